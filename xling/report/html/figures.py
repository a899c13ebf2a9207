"""Figures inside the page: pictures as data, each with its words and its numbers; what was not run says so."""

import base64
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from xling.report.html.gallery import ENTRIES, entry_of, in_page_order
from xling.report.html.markup import Html, el, join
from xling.report.html.tables import data_table, read_table

TYPES = {".svg": "image/svg+xml", ".png": "image/png"}
LARGEST_DRAWING = 400_000  # bytes: beyond it a drawing of many lines is heavier than its picture
MOST_ROWS = 600  # of a figure's numbers: a page is no place for more


def find_figures(folders: Iterable[Path], only: Collection[str] = ()) -> dict[str, Path]:
    """Return the pictures below folders by name, all or `only` some: drawings, or of large and folded ones pictures."""
    found: dict[str, dict[str, Path]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in TYPES:
                found.setdefault(str(path.relative_to(folder).with_suffix("").as_posix()), {})[path.suffix] = path
    wanted = [name for name in found if not only or name in only]
    return {name: _chosen(found[name], entry_of(name).folded) for name in sorted(wanted, key=in_page_order)}


def figure_section(section: str, ours: Mapping[str, Path], papers: Mapping[str, Path]) -> Html:
    """Return the figures of a section in order, the paper's own under ours, and what is missing by name."""
    names = [name for name in ours if entry_of(name).section == section]
    shown = [join(figure(name, ours[name]), _papers(name, papers)) for name in names if not entry_of(name).folded]
    folded = [figure(name, ours[name]) for name in names if entry_of(name).folded]
    missing = [
        el("p", el("strong", entry.title), ": not run.", class_="missing")
        for entry in ENTRIES
        if entry.section == section and not entry.folded and not any(entry_of(name) == entry for name in names)
    ]
    return join(shown, missing, _folded(folded))


def figure(name: str, path: Path, title: str = "") -> Html:
    """Return a picture with its title, its words and, where its CSV lies beside it, its numbers."""
    entry = entry_of(name)
    heading = title or _title(name)
    picture = el("img", src=data_uri(path), alt=f"{heading}: {entry.alt}", decoding="async")
    return el(
        "figure",
        el("h3", heading),
        el("div", picture, class_="card"),
        None if entry.folded else el("figcaption", entry.alt),
        _numbers(path.with_suffix(".csv"), heading),
        id=None if title else f"figure-{re.sub(r'[^A-Za-z0-9]+', '-', name)}",
    )


def data_uri(path: Path) -> str:
    """Return a picture as an address that holds all of it."""
    return f"data:{TYPES[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def _chosen(paths: Mapping[str, Path], folded: bool) -> Path:
    drawing = paths.get(".svg")
    if drawing and (".png" not in paths or (drawing.stat().st_size <= LARGEST_DRAWING and not folded)):
        return drawing
    return paths[".png"]


def _title(name: str) -> str:
    entry = entry_of(name)
    is_family = entry.pattern.endswith("*") and name != entry.pattern.rstrip("*")
    rest = name.removeprefix(entry.pattern.rstrip("*")).strip("/_-. ").replace("_", " ")
    if not (is_family and rest):
        return entry.title
    return f"{entry.title} {rest}" if entry.folded else f"{entry.title}: {rest}"


def _folded(figures: Sequence[Html]) -> Html | None:
    if not figures:
        return None
    return el("details", el("summary", f"Every model by itself ({len(figures)})"), el("div", figures, class_="many"))


def _papers(name: str, papers: Mapping[str, Path]) -> Html | None:
    if name not in papers:
        return None
    return figure(name, papers[name], title=f"{_title(name)}, from the paper's published numbers")


def _numbers(path: Path, heading: str) -> Html | None:
    if not path.is_file():
        return None
    table = read_table(path)
    summary = el("summary", "Numbers")
    if len(table.rows) > MOST_ROWS:
        return el("details", summary, el("p", f"{len(table.rows)} rows: too many for a page, they are in {path.name}."))
    return el("details", summary, data_table(table, f"numbers of {heading}"))
