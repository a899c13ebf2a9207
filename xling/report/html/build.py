"""From files to the page: verdicts first, then tables, figures, training, anchors, choices and provenance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.report.claims.stored import read_claims
from xling.report.html.figures import figure_section, find_figures
from xling.report.html.gallery import ANCHORS, FIGURES, TRAINING
from xling.report.html.markdown import markdown
from xling.report.html.markup import Html, el, join
from xling.report.html.origin import origin_section
from xling.report.html.page import Section, page
from xling.report.html.tables import Table, data_table, grouped, read_table, without_margins
from xling.report.html.verdicts import glance, verdict_section

TITLES = {
    "table1": "Table 1. Zero-shot transfer",
    "examples": "How many examples each task had",
    "table1-compared": "Table 1 beside the paper's",
    "transfer": "Every transfer score",
}
GROUP_COLUMN = {"table1-compared": "Task"}
FOLDED = {"transfer"}  # for those who want every seed
PROVENANCE_KEYS = {"study", "config", "config_hash", "commit", "changed", "collected", "python", "versions"}
PROVENANCE_KEYS |= {"machine", "stages", "models", "data"}


@dataclass(frozen=True)
class Sources:
    """Where everything on the page comes from."""

    title: str
    claims: Path
    provenance: Path
    tables: tuple[Path, ...] = ()
    figures: tuple[Path, ...] = ()
    only: tuple[str, ...] = ()  # names of the study's figures, where its folders may hold others
    paper_figures: tuple[Path, ...] = ()
    choices: tuple[Path, ...] = ()


def build(sources: Sources) -> str:
    """Return the whole page."""
    claims = read_claims(sources.claims)
    return page(sources.title, glance(claims), list(_sections(sources, claims)))


def read_provenance(path: Path) -> dict[str, Any]:
    """Return where a study's results come from."""
    value = read_json(path)
    if not isinstance(value, dict) or not value.keys() >= PROVENANCE_KEYS:
        missing = sorted(PROVENANCE_KEYS - set(value if isinstance(value, dict) else ()))
        raise InputError(path, f"not a study's provenance: {', '.join(missing)} missing")
    return value


def _sections(sources: Sources, claims: dict[str, Any]) -> Iterator[Section]:
    ours, papers = find_figures(sources.figures, sources.only), find_figures(sources.paper_figures)
    yield Section("verdicts", "Verdicts", verdict_section(claims), "What this run shows of each claim of the paper.")
    known = read_provenance(sources.provenance)
    if notes := known["config"].get("study", {}).get("notes"):
        yield Section("data", "Data", el("ul", [el("li", note) for note in notes]))
    yield Section(
        "tables", "Tables", _tables(sources.tables), "A click on a heading sorts; a third restores the order."
    )
    yield Section("figures", "Figures", figure_section(FIGURES, ours, papers))
    yield Section("training", "Training", figure_section(TRAINING, ours, papers))
    yield Section("anchors", "Anchor audit", figure_section(ANCHORS, ours, papers))
    yield Section("choices", "Method and choices", _choices(sources.choices))
    yield Section("provenance", "Provenance", origin_section(known))


def _tables(paths: Sequence[Path]) -> Html:
    if not paths:
        return el("p", "No table was made: transfer was not run.", class_="missing")
    return join(_table(path) for path in paths)


def _table(path: Path) -> Html:
    title, table = TITLES.get(path.stem, path.stem.replace("_", " ")), without_margins(read_table(path))
    if path.stem in GROUP_COLUMN:
        table = _led_by_model(table, GROUP_COLUMN[path.stem])
    html = data_table(grouped(table), title)
    if path.stem in FOLDED:
        return el("details", el("summary", f"{title} ({len(table.rows)} rows)"), html)
    return join(el("h3", title), html)


def _led_by_model(table: Table, name: str) -> Table:
    """Return a table whose group stands as a column behind the one that names its rows."""
    flat = grouped(table)
    if not flat.groups:
        return table
    rows = [(row[0], group, *row[1:]) for row, group in zip(flat.rows, flat.groups, strict=True)]
    return Table((flat.head[0], name, *flat.head[1:]), rows)


def _choices(paths: Sequence[Path]) -> Html:
    return join(markdown(path.read_text(encoding="utf-8")) for path in paths)
