"""Tables of text as CSV, Markdown and LaTeX."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xling.core.io import write_text

LATEX = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "§": r"\S{}", "Δ": r"$\Delta$", "′": "$'$", "±": r"$\pm$"}


@dataclass(frozen=True)
class Column:
    """A column: the heading it stands under (may be empty) and its own."""

    over: str
    name: str

    @property
    def title(self) -> str:
        """Both headings in one line."""
        return f"{self.over} {self.name}".strip()


@dataclass(frozen=True)
class Row:
    """A row of cells and the group it belongs to (empty: none)."""

    group: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """A table: columns, rows in groups, and a caption."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""


def beside(left: Grid, right: Grid | None) -> Grid:
    """Return one table with the columns of both, which have the same rows."""
    if right is None:
        return left
    rows = [Row(a.group, (*a.cells, *b.cells)) for a, b in zip(left.rows, right.rows, strict=True)]
    return Grid((*left.columns, *right.columns), tuple(rows), left.caption)


def as_csv(grid: Grid) -> str:
    """Return the table as CSV, the group in a column of its own."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["Group", *(column.title for column in grid.columns)])
    writer.writerows([row.group, *row.cells] for row in grid.rows)
    return out.getvalue()


def as_markdown(grid: Grid) -> str:
    """Return the table as Markdown, each group under a heading row."""
    lines = [_markdown_row([column.title for column in grid.columns])]
    lines.append("|" + "|".join("--:" if column.over else ":--" for column in grid.columns) + "|")
    for heading, row in _with_headings(grid.rows):
        if heading:
            lines.append(_markdown_row([f"*{heading}*", *[""] * (len(grid.columns) - 1)]))
        lines.append(_markdown_row(row.cells))
    return "\n".join(lines) + "\n" + (f"\n{grid.caption}\n" if grid.caption else "")


def as_latex(grid: Grid) -> str:
    """Return the table as LaTeX (needs the package booktabs), each group under a heading row."""
    over, rules = _latex_over(grid.columns)
    lines = [
        rf"\begin{{tabular}}{{{''.join('l' if not column.over else 'r' for column in grid.columns)}}}",
        r"\toprule",
        over,
        rules,
        _latex_row([column.name for column in grid.columns]),
        r"\midrule",
    ]
    for heading, row in _with_headings(grid.rows):
        if heading:
            span = rf"\multicolumn{{{len(grid.columns)}}}{{l}}{{\textit{{{_latex(heading)}}}}}"
            lines += [r"\addlinespace", rf"{span} \\"]
        lines.append(_latex_row(row.cells))
    caption = [f"% {grid.caption}"] if grid.caption else []
    return "\n".join([*caption, *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def write_grid(grid: Grid, folder: Path, name: str, further: Grid | None = None) -> None:
    """Write a table as name.csv, name.md and name.tex; the CSV has the columns of a further table behind its own."""
    for suffix, text in ((".csv", as_csv(beside(grid, further))), (".md", as_markdown(grid)), (".tex", as_latex(grid))):
        with write_text(folder / f"{name}{suffix}") as handle:
            handle.write(text)


def signed(value: float, digits: int = 1) -> str:
    """Return a difference as the paper prints it: a sign on everything but zero."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text


def _with_headings(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    before = ["", *(row.group for row in rows)]
    return [(row.group if row.group != last else "", row) for last, row in zip(before, rows, strict=False)]


def _markdown_row(cells: Sequence[str]) -> str:
    # In Markdown a star may begin emphasis (the paper's "0*"); our own emphasis has one at both ends.
    safe = [cell if re.fullmatch(r"\*.+\*", cell) else cell.replace("*", r"\*") for cell in cells]
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in safe) + " |"


def _latex_over(columns: Sequence[Column]) -> tuple[str, str]:
    cells, rules, start = [], [], 0
    while start < len(columns):
        end = start + 1
        while end < len(columns) and columns[end].over == columns[start].over:
            end += 1
        over = columns[start].over
        cells.append(rf"\multicolumn{{{end - start}}}{{c}}{{{_latex(over)}}}")
        if over:
            rules.append(rf"\cmidrule(lr){{{start + 1}-{end}}}")
        start = end
    return " & ".join(cells) + r" \\", "".join(rules)


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(_latex(cell) for cell in cells) + r" \\"


def _latex(text: str) -> str:
    escaped = "".join(LATEX.get(character, character) for character in text)
    return re.sub(r"(?<![\w)])-(?=\d)", "$-$", escaped)
