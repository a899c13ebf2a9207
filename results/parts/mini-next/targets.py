"""Print targets of Snakemake for a part of mini-next: python targets.py text, vectors, or a seed (1 to 4)

`text` is everything that is made before the first training; a seed is what is left of it, without word translation.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from dag import lay_out  # noqa: E402

from workflow_scripts.config import read_config  # noqa: E402
from workflow_scripts.study import Study  # noqa: E402

PRESETS = [ROOT / name for name in ("config.yaml", "presets/mini.yaml", "presets/overlays/mini-next.yaml")]
TEXT = {"split_corpus", "train_bpe", "build_vocabulary", "build_dictionary", "align_words"}
TEXT |= {"prepare_task", "prepare_tatoeba", "prepare_parallel"}
IN_PARTS = {"pretrain", "fine_tune", "audit_anchors", "transfer_contextual", "retrieve_sentences", "compare_encoders"}


def done() -> set[str]:
    """Return the paths in all parts."""
    import tarfile

    parts = sorted(Path(__file__).parent.glob("*.tar.xz"))
    return {name for part in parts for name in tarfile.open(part).getnames()}


def main() -> None:
    """Print the targets in one line."""
    what, found = sys.argv[1], []
    jobs = lay_out(read_config(*PRESETS), ["all"], ROOT / "Snakefile")
    if what in ("text", "vectors"):
        rules = TEXT if what == "text" else {"train_vectors"}
        found = [job.outputs[0] for job in jobs if job.rule in rules]
    else:
        known = done()
        for job in (job for job in jobs if job.rule in IN_PARTS):
            wanted = job.outputs[-1] if job.rule == "pretrain" else job.outputs[0]  # weights are in no part
            if f".s{what}" in wanted and wanted not in known:
                found.append(wanted)
        study = Study(read_config(*PRESETS))
        first = [f"results/mini-next/models/{name}/train.log" for name in study.alignment.encoders]
        found = sorted(found, key=lambda path: path not in first)
    print(" ".join(found))


if __name__ == "__main__":
    main()
