"""Print a study's verdicts, one line a claim, and where its report is.

python -m xling.report.claims.show --claims claims.json --report report.html
"""

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xling.core.errors import run
from xling.report.claims.stored import read_claims
from xling.report.claims.verdict import Verdict


def verdict_lines(claims: Mapping[str, Any]) -> list[str]:
    """Return how many claims have which verdict, and a line for each."""
    found = Counter(claim["verdict"] for claim in claims["claims"])
    counts = ", ".join(f"{found[verdict]} {verdict}" for verdict in Verdict if found[verdict])
    wide = max(map(len, Verdict))
    lines = [f"  {claim['claim']:<3} {claim['verdict']:<{wide}}  {claim['says']}" for claim in claims["claims"]]
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
