"""The table of docs/verdicts.md: what the rule says of the paper's own numbers, given the noise they may have.

python -m docs.verdicts
"""

import math
from dataclasses import replace
from pathlib import Path

from xling.core.errors import run
from xling.core.io import atomic_path
from xling.report import published
from xling.report.claims.render import Stored, judged, row
from xling.report.records import Results

PAGE = Path(__file__).with_suffix(".md")
START, END = "<!-- made by python -m docs.verdicts -->", "<!-- end of what docs.verdicts makes -->"
ITEMS = {"xnli": 5010, "ner": 10_000, "parsing": 4000}  # parsing: some 11,000 words, which err together in sentences
COLUMNS = ("", "claim", "effect and interval", "wanted", "verdict", "seeds to decide")
SEED_POINTS, SEED_CKA = 1.0, 0.01


def noisy_paper() -> Results:
    """Return the published numbers as two seeds around each, whose mean errs as one seed with the assumed s.d. does."""
    paper = published.results()
    cells = []
    for cell in paper.figure3:
        reach = 196 * math.sqrt(cell.score / 100 * (1 - cell.score / 100) / ITEMS[cell.task])
        for seed, step in enumerate((-SEED_POINTS, SEED_POINTS)):
            score = cell.score + step
            cells.append(replace(cell, seed=seed, score=score, low=score - reach, high=score + reach))
    similar = [
        replace(row, seed=seed, cka=row.cka + step)
        for row in paper.figure7
        for seed, step in enumerate((-SEED_CKA, SEED_CKA))
    ]
    return replace(paper, figure3=tuple(cells), figure7=tuple(similar))


def table(stored: Stored) -> str:
    """Return verdicts as rows, one per claim that was run."""
    claims = [claim for claim in stored["claims"] if claim["verdict"] != "not run"]
    rows = [[*cells[:4], *cells[5:]] for cells in map(row, claims)]  # all but the paper's value
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (COLUMNS, ["---"] * len(COLUMNS), *rows))


def with_table(page: str, made: str) -> str:
    """Return the page with a new table between its markers."""
    before, rest = page.split(START)
    return f"{before}{START}\n{made}\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Write the table into the page."""
    text = with_table(PAGE.read_text(encoding="utf-8"), table(judged(noisy_paper())))
    with atomic_path(PAGE) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run(main)
