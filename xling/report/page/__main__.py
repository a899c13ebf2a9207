"""Write all results of a study on one page.

python -m xling.report.page --title "Study demo" --claims claims.json --tables tables/table1.csv --figures figures
    --paper-figures paper --provenance provenance.json --choices choices.md --out report.html
"""

import argparse
from pathlib import Path

from xling.core.errors import run
from xling.core.io import write_text
from xling.core.log import log_to_stderr
from xling.report.page.build import build
from xling.report.page.files import Files


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m xling.report.page", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--title", required=True, help="which study this is")
    parser.add_argument("--claims", type=Path, required=True, help="verdicts, made by python -m xling.report.claims")
    parser.add_argument("--tables", type=Path, nargs="*", default=[], help="CSV files, in the order of the page")
    parser.add_argument("--figures", type=Path, nargs="*", default=[], help="folders of the study's figures")
    parser.add_argument("--only", nargs="*", default=[], help="names of the figures to show, as training/en.mono.s1")
    parser.add_argument("--paper-figures", type=Path, nargs="*", default=[], help="folders of the paper's figures")
    parser.add_argument("--provenance", type=Path, required=True, help="JSON: where the results come from")
    parser.add_argument("--choices", type=Path, nargs="*", default=[], help="Markdown: what the paper leaves open")
    parser.add_argument("--logs", type=Path, help="folder of the jobs' logs, to link to")
    parser.add_argument("--models", type=Path, help="folder of the models' folders, to link to")
    parser.add_argument("--scores", type=Path, help="folder of a folder for each model, with a file for each task")
    parser.add_argument("--kept-scores", type=Path, help="file of all scores, in a kept study")
    parser.add_argument("--out", type=Path, required=True)
    given = vars(parser.parse_args())
    out: Path = given.pop("out")
    text = build(Files(page=out.parent, **given))
    with write_text(out) as handle:
        handle.write(text)
    log_to_stderr(__name__).info("the report is in %s (%.1f MB)", out, len(text.encode()) / 1e6)


if __name__ == "__main__":
    run(main)
