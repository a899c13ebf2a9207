"""Check a study's results against the paper's claims.

python -m xling.report.claims --results FOLDER --out-json claims.json --out-md claims.md

The exit status is 0 whatever the verdicts are.
"""

import argparse
from pathlib import Path

from xling.core.errors import run
from xling.core.io import write_json, write_text
from xling.core.log import log_to_stderr
from xling.report.claims.render import as_json, as_markdown, judge_all, summary
from xling.report.means import means
from xling.report.records import read_results


def main() -> None:
    """Judge every claim and write the verdicts."""
    args = _arguments()
    outcomes = judge_all(means(read_results(args.results, args.paper_scale)))
    write_json(args.out_json, as_json(outcomes, args.paper_scale, args.config_hash))
    with write_text(args.out_md) as handle:
        handle.write(as_markdown(outcomes))
    log_to_stderr(__name__).info("the paper's claims: %s", summary(outcomes))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m xling.report.claims", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, nargs="*", default=[], help="record files, or folders of them")
    parser.add_argument("--paper-scale", action="store_true", help="the study has the paper's data and budget")
    parser.add_argument("--config-hash", default="", help="what the results belong to")
    parser.add_argument("--out-json", type=Path, required=True)
    parser.add_argument("--out-md", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
