"""Print targets of Snakemake for a part of a study: python targets.py STUDY text, or seeds (1 2 …)

`text` is everything that is made before the first training. For seeds, each line is a wave: what no part has yet, first
section 5 and its models, then the other models of en-fr, en-ru and en-zh. `--without OTHER` leaves out encoders that
another study has as well, `--only "en-fr.sep-*" …` keeps only encoders of these patterns.
"""

import argparse
import re
import tarfile
from collections import defaultdict
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

from workflow_scripts.config import REPOSITORY, read_config
from workflow_scripts.plan.jobs import open_dag
from workflow_scripts.study import Study

PARTS = Path(__file__).parent
TEXT = {"split_corpus", "train_bpe", "build_vocabulary", "build_dictionary", "align_words"}
TEXT |= {"prepare_task", "prepare_tatoeba", "prepare_parallel"}
SECTION5 = {"transfer_contextual", "translate_words", "retrieve_sentences", "compare_encoders"}
IN_PARTS = SECTION5 | {"pretrain", "fine_tune", "audit_anchors"}


def waves(jobs, section5: list[str], seeds: list[str], wanted: Callable[[str], bool]) -> list[list[str]]:
    """Return the targets of each wave; of a training it is the log, because weights are in no part."""
    known = {name for part in PARTS.glob("*/*.tar.xz") for name in tarfile.open(part).getnames()}
    found = defaultdict(list)
    for job in (job for job in jobs if job.rule.name in IN_PARTS):
        target = str(job.output[-1 if job.rule.name == "pretrain" else 0])
        name, seed = re.findall(r"/([\w.-]+)\.s(\d+)[./]", target)[0]
        if seed in seeds and target not in known and wanted(f"{name}.s{seed}"):
            first = f"{name}.s{seed}" in section5 or job.rule.name in SECTION5
            found[seeds.index(seed), "" if first else name.split(".")[0]].append(target)
    return [sorted(found[key], key=lambda path: "train.log" not in path) for key in sorted(found)]


def open_study(name: str) -> Study:
    """Return a study by the name of its folder."""
    presets = ["config.yaml", *(PARTS / name / "presets").read_text().split()]
    return Study(read_config(*(REPOSITORY / preset for preset in presets)))


def main() -> None:
    """Print the targets, one line per wave."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study")
    parser.add_argument("what", nargs="+")
    parser.add_argument("--without")
    parser.add_argument("--only", nargs="+", default=["*"])
    args = parser.parse_args()
    study = open_study(args.study)
    jobs = open_dag(study.config, ["all"]).jobs
    if args.what == ["text"]:
        lines = [[str(job.output[0]) for job in jobs if job.rule.name in TEXT]]
    else:
        other = open_study(args.without) if args.without else None
        others = {*other.models, *other.transfer.encoders} if other else set()

        def wanted(encoder: str) -> bool:
            return encoder not in others and any(fnmatch(encoder, pattern) for pattern in args.only)

        lines = waves(jobs, study.alignment.encoders, args.what, wanted)
    for line in lines:
        print(" ".join(line))


if __name__ == "__main__":
    main()
