"""Print the verdicts of a study, one line per claim, and the path of its report.

python -m xling.report.claims.show --claims claims.json --report report.html
"""

import argparse
from pathlib import Path

from xling.core.errors import run
from xling.report.claims.render import Stored, first_lines, read_claims, row, worded
from xling.report.rule import Verdict


def verdict_lines(stored: Stored) -> list[str]:
    """Return the headline, a line with the effect of each claim, and one line for all claims that were not run."""
    absent = [claim["claim"] for claim in stored["claims"] if worded(claim) is Verdict.NOT_RUN]
    rows = [row(claim) for claim in stored["claims"] if claim["claim"] not in absent]
    table = [(number, text.strip("*"), effect, threshold, says) for number, says, effect, threshold, _, text, _ in rows]
    wide = [max(map(len, column)) for column in zip(*table, strict=True)][:-1]
    lines = [
        "  ".join([*(cell.ljust(n) for cell, n in zip(cells, wide, strict=False)), cells[-1]]).rstrip()
        for cells in table
    ]
    lines += [f"{Verdict.NOT_RUN}: {', '.join(absent)}"] if absent else []
    return [*first_lines(stored), *(f"  {line}" for line in lines)]


def main() -> None:
    """Print the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claims", type=Path, required=True, help="made by python -m xling.report.claims")
    parser.add_argument("--report", type=Path, required=True, help="the page to name")
    args = parser.parse_args()
    print("\n".join(["", *verdict_lines(read_claims(args.claims)), "", f"Report: {args.report}"]), flush=True)


if __name__ == "__main__":
    run(main)
