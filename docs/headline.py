"""The front page's figure and verdicts: what the reference run found beside what the paper printed.

python -m docs.headline

Draws docs/headline.svg and writes the lines between the two markers of README.md, both from results/reference.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from xling.core.errors import run
from xling.core.io import atomic_path
from xling.report import published, style
from xling.report.figures.kept import kept, languages_with_signal
from xling.report.measured import Study
from xling.report.names import TASKS
from xling.report.records import Cell, Results, read_records
from xling.report.rule import Verdict

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "results/reference/mini"
START, END = "<!-- made by python -m docs.headline -->", "<!-- end of what docs.headline makes -->"
PAPER_TASKS = tuple(published.CHANCE)


def without_signal(ours: Study) -> list[str]:
    """Return a sentence that names the tasks without enough signal, if there are any."""
    known = languages_with_signal(ours)
    names = ", ".join(TASKS[task] for task in PAPER_TASKS if task not in known)
    return (
        [f"Not judged: {names}, because Default is less than 5 points above the untrained encoder in every language."]
        if names
        else []
    )


def verdicts(claims: Mapping[str, Any]) -> str:
    """Return the first sentence of the verdicts, and which claims have which."""
    names: dict[str, list[str]] = {}
    for claim in claims["claims"]:
        names.setdefault(claim["verdict"], []).append(claim["claim"])
    listed = [f"{', '.join(names[verdict])}: {verdict}" for verdict in Verdict if verdict in names]
    return f"{claims['headline']} In detail: {'; '.join(listed)}."


def block(ours: Study, claims: Mapping[str, Any]) -> str:
    """Return the text from the first marker of the README to the second."""
    return "\n".join([START, verdicts(claims), *without_signal(ours), END])


def with_block(readme: str, made: str) -> str:
    """Return the README with a new text in place of the one between its markers."""
    before, rest = readme.split(START)
    return before + made + rest.split(END)[1]


def read_reference(folder: Path = REFERENCE) -> tuple[list[Cell], dict[str, Any]]:
    """Return a reference run's scores in the paper's tasks, and its verdicts."""
    claims = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    return [cell for cell in read_records(folder / "records/figure3.csv", Cell) if cell.task in PAPER_TASKS], claims


def draw(cells: Sequence[Cell]) -> Figure:
    """Return the figure: which share of Default's transfer each of the paper's settings keeps."""
    return kept(cells, published.settings(), across=True)[0]


def main() -> None:
    """Draw the figure and write the verdicts into the README."""
    cells, claims = read_reference()
    with style.styled():
        style.save_images(draw(cells), ROOT / "docs", "headline", ["svg"])
    path = ROOT / "README.md"
    text = with_block(path.read_text(encoding="utf-8"), block(Study(Results(figure3=tuple(cells)), redraws=0), claims))
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run(main)
