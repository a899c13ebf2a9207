"""Print a study's verdicts, one line per claim, and where its report is.

python -m xling.report.claims.show --claims claims.json --report report.html
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xling.core.errors import run
from xling.report.claims.stored import read_claims, stored_coverage
from xling.report.claims.verdict import Verdict
from xling.report.claims.words import brief_standing, count_text


def verdict_lines(claims: Mapping[str, Any]) -> list[str]:
    """Return how many claims have which verdict, and a line for each with what it rests on."""
    found = [(Verdict(claim["verdict"]), stored_coverage(claim)) for claim in claims["claims"]]
    counts = count_text([(verdict, coverage.whole) for verdict, coverage in found])
    stands = [brief_standing(verdict, coverage) for verdict, coverage in found]
    wide = max(map(len, stands), default=0)
    told = zip(claims["claims"], stands, strict=True)
    lines = [f"  {claim['claim']:<3} {text:<{wide}}  {claim['says']}" for claim, text in told]
    return [f"The paper's claims in this run: {counts}", *lines]


def main() -> None:
    """Print the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claims", type=Path, required=True, help="made by python -m xling.report.claims")
    parser.add_argument("--report", type=Path, required=True, help="the page to name")
    args = parser.parse_args()
    print("\n".join(["", *verdict_lines(read_claims(args.claims)), "", f"Report: {args.report}"]), flush=True)


if __name__ == "__main__":
    run(main)
