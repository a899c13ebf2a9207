"""Figures on the page: what each is called and shows in words, its picture and its numbers; what was not run."""

import re
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from xling.report.page.drawings import embedded
from xling.report.page.tables import Table, data_table, read_numbers

LARGEST_DRAWING = 400_000  # bytes: beyond it a drawing of many lines is heavier than its picture
MOST_ROWS = 600  # of a figure's numbers: a page is no place for more
FOLDED = "training/*"  # one of many, which a reader may open


class Entry(NamedTuple):
    """A figure, or a family of them by a pattern: its title, and its picture in words for those who cannot see it."""

    pattern: str
    section: str
    title: str
    alt: str


CAPTIONS = yaml.safe_load(Path(__file__).with_name("captions.yaml").read_text(encoding="utf-8"))
ENTRIES = [Entry(pattern, **about) for pattern, about in CAPTIONS.items()]


def entry_of(name: str) -> Entry:
    """Return what is known of a figure by its name below the folder; one nobody described stands with the figures."""
    known = next((entry for entry in ENTRIES if fnmatchcase(name, entry.pattern)), None)
    title = name.rsplit("/", 1)[-1].replace("_", " ")
    return known or Entry(name, "figures", title, f"Figure {title}.")


def find_figures(folders: Iterable[Path], only: Collection[str] = ()) -> dict[str, Path]:
    """Return the pictures below folders in the page's order, all or `only` some: drawings where they are light."""
    found: dict[str, dict[str, Path]] = {}
    for folder in folders:
        for path in (path for path in sorted(folder.rglob("*")) if path.suffix in (".svg", ".png")):
            found.setdefault(path.relative_to(folder).with_suffix("").as_posix(), {})[path.suffix] = path

    def page_order(name: str) -> tuple[int, str]:
        entry = entry_of(name)
        return ENTRIES.index(entry) if entry in ENTRIES else len(ENTRIES), name

    chosen = {}
    for name in sorted((name for name in found if not only or name in only), key=page_order):
        drawing, picture = found[name].get(".svg"), found[name].get(".png")
        heavy = drawing is None or drawing.stat().st_size > LARGEST_DRAWING or entry_of(name).pattern == FOLDED
        chosen[name] = picture if picture and heavy else found[name][".svg"]
    return chosen


def gallery(section: str, ours: Mapping[str, Path], papers: Mapping[str, Path]) -> dict[str, Any]:
    """Return the figures of a section for the template: in order, the paper's own under ours; then what is missing."""
    patterns = {name: entry_of(name).pattern for name in ours if entry_of(name).section == section}
    shown = []
    for name in (name for name, pattern in patterns.items() if pattern != FOLDED):
        shown.append(_figure(name, ours[name]))
        if name in papers:
            shown.append(_figure(name, papers[name], ", from the paper's published numbers") | {"id": None})
    wanted = [entry for entry in ENTRIES if entry.section == section and entry.pattern != FOLDED]
    return {
        "shown": shown,
        "missing": [entry.title for entry in wanted if entry.pattern not in patterns.values()],
        "folded": [_figure(name, ours[name]) for name, pattern in patterns.items() if pattern == FOLDED],
    }


def _figure(name: str, path: Path, addition: str = "") -> dict[str, Any]:
    entry = entry_of(name)
    family, title = entry.pattern.rstrip("*"), entry.title
    rest = name.removeprefix(family).strip("/_-. ").replace("_", " ")
    if rest and family != entry.pattern:
        title += f" {rest}" if entry.pattern == FOLDED else f": {rest}"
    numbers: Table | str | None = None
    if path.with_suffix(".csv").is_file():
        frame = read_numbers(path.with_suffix(".csv"))
        numbers = f"{len(frame)} rows: too many for a page, they are in {path.stem}.csv."
        if len(frame) <= MOST_ROWS:
            numbers = data_table(frame.columns, frame.to_numpy().tolist(), f"numbers of {title}{addition}")
    return {
        "id": f"figure-{re.sub(r'[^A-Za-z0-9]+', '-', name)}",
        "title": f"{title}{addition}",
        "alt": entry.alt,
        "folded": entry.pattern == FOLDED,
        "source": embedded(path),
        "numbers": numbers,
    }
