"""Check the paper's claims on the results of a study.

python -m xling.report.claims --results FOLDER --out-json claims.json --out-md claims.md

The exit status is 0 whatever the verdicts are.
"""

import argparse
from pathlib import Path

from xling.core.errors import run
from xling.core.io import write_json, write_text
from xling.core.log import log_to_stderr
from xling.report.claims.render import as_markdown, judged
from xling.report.items import item_covariances
from xling.report.records import read_results


def main() -> None:
    """Judge every claim and write the verdicts."""
    parser = argparse.ArgumentParser(
        prog="python -m xling.report.claims", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, nargs="*", default=[], help="record files, or folders of them")
    parser.add_argument("--items", type=Path, help="counts of test sentences, so that scores on them are paired")
    parser.add_argument("--paper-scale", action="store_true", help="the study has the paper's data and budget")
    parser.add_argument("--config-hash", default="", help="what the results belong to")
    parser.add_argument("--out-json", type=Path, required=True)
    parser.add_argument("--out-md", type=Path, required=True)
    args = parser.parse_args()
    results = read_results(args.results, args.paper_scale)
    found = judged(results, args.config_hash, item_covariances(args.items, results.figure3) if args.items else {})
    write_json(args.out_json, found)
    with write_text(args.out_md) as handle:
        handle.write(as_markdown(found))
    log_to_stderr(__name__).info("%s", found["headline"])


if __name__ == "__main__":
    run(main)
