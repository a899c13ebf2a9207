"""Figures 1 and 2, drawn from the description of a study: what is shared in each setting, and what is compared.

python -m xling.report.schematic --study study.json --out-dir figures
"""

import argparse
from pathlib import Path

from xling.core.errors import run
from xling.report import style
from xling.report.figure1 import figure1
from xling.report.figure2 import comparisons, figure2
from xling.report.study_file import read_study


def main() -> None:
    """Draw Figures 1 and 2 of a study."""
    args = _arguments()
    study = read_study(args.study)
    with style.styled():
        style.save_figure(figure1(study), args.out_dir, "figure1", study.settings)
        style.save_figure(figure2(study), args.out_dir, "figure2", comparisons(study))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, required=True, help="what the study is, see xling.report.study_file")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
