"""Print targets of Snakemake for a part of a study: python targets.py STUDY text, vectors, or seeds (1 2 …)

`text` is everything that is made before the first training. For seeds, each line is a wave: what no part has yet, first
with the models of section 5 and en-fr, then en-ru, then en-zh, without word translation.
"""

import re
import sys
import tarfile
from collections import defaultdict
from pathlib import Path

from workflow_scripts.config import REPOSITORY, read_config
from workflow_scripts.plan.jobs import open_dag
from workflow_scripts.study import Study

PARTS = Path(__file__).parent
TEXT = {"split_corpus", "train_bpe", "build_vocabulary", "build_dictionary", "align_words"}
TEXT |= {"prepare_task", "prepare_tatoeba", "prepare_parallel"}
IN_PARTS = {"pretrain", "fine_tune", "audit_anchors", "transfer_contextual", "retrieve_sentences", "compare_encoders"}


def waves(jobs, folder: Path, section5: list[str], seeds: list[str]) -> list[list[str]]:
    """Return the targets of each wave; of a training it is the log, because weights are in no part."""
    known = {name for part in sorted(folder.glob("*.tar.xz")) for name in tarfile.open(part).getnames()}
    found = defaultdict(list)
    for job in (job for job in jobs if job.rule.name in IN_PARTS):
        target = str(job.output[-1 if job.rule.name == "pretrain" else 0])
        name, seed = re.findall(r"/([\w.-]+)\.s(\d+)[./]", target)[0]
        if seed in seeds and target not in known:
            later = ("en-ru.", "en-zh.").index(name[:6]) + 1 if name[:6] in ("en-ru.", "en-zh.") else 0
            first = f"{name}.s{seed}" in section5 or job.rule.name == "transfer_contextual"
            found[seeds.index(seed), 0 if first else later].append(target)
    return [sorted(found[key], key=lambda path: "train.log" not in path) for key in sorted(found)]


def main() -> None:
    """Print the targets, one line per wave."""
    folder, what = PARTS / sys.argv[1], sys.argv[2:]
    presets = [REPOSITORY / name for name in ["config.yaml", *(folder / "presets").read_text().split()]]
    config = read_config(*presets)
    jobs = open_dag(config, ["all"]).jobs
    if what in (["text"], ["vectors"]):
        rules = TEXT if what == ["text"] else {"train_vectors"}
        lines = [[str(job.output[0]) for job in jobs if job.rule.name in rules]]
    else:
        lines = waves(jobs, folder, Study(config).alignment.encoders, what)
    for line in lines:
        print(" ".join(line))


if __name__ == "__main__":
    main()
