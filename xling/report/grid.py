"""Tables of text as CSV, Markdown and LaTeX.

A table is a DataFrame whose columns have two levels of headings (the upper one may be empty) and whose index names the
group of each row (empty if it has none).
"""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from pathlib import Path

import pandas as pd

from xling.core.io import write_text

LATEX = {
    "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "§": r"\S{}", "Δ": r"$\Delta$", "′": "$'$",
    "$": r"\$", "{": r"\{", "}": r"\}", "\\": r"\textbackslash{}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "\n": " ",
}  # fmt: skip
MARKDOWN = str.maketrans({"\\": "\\\\", "`": r"\`", "<": r"\<", "|": r"\|", "\n": " "})
Headings = Iterable[tuple[str, str]]


def grid(headings: Headings, rows: Iterable[tuple[str, Sequence[str]]]) -> pd.DataFrame:
    """Return a table, given the pairs of headings and the rows with their groups."""
    groups, cells = zip(*rows, strict=True)
    return pd.DataFrame(list(cells), index=list(groups), columns=pd.MultiIndex.from_tuples(headings), dtype=object)


def as_csv(table: pd.DataFrame) -> str:
    """Return the table as CSV, with an extra column for the group."""
    return str(table.set_axis(_titles(table), axis=1).to_csv(index_label="Group", lineterminator="\n"))


def as_markdown(table: pd.DataFrame, caption: str = "") -> str:
    """Return the table as Markdown, each group under a heading row."""

    def line(cells: Sequence[str]) -> str:
        # A star may begin emphasis in Markdown (the paper's "0*"); our own emphasis has a star at both ends.
        plain = [cell.translate(MARKDOWN) for cell in cells]
        safe = [cell if re.fullmatch(r"\*.+\*", cell) else cell.replace("*", r"\*") for cell in plain]
        return "| " + " | ".join(safe) + " |"

    lines = [line(_titles(table)), "|" + "|".join("--:" if over else ":--" for over, _ in table.columns) + "|"]
    for heading, cells in zip(beginnings(table.index), table.to_numpy().tolist(), strict=True):
        lines += [line([f"*{heading}*", *[""] * (len(table.columns) - 1)])] if heading else []
        lines.append(line(cells))
    return "\n".join(lines) + "\n" + (f"\n{caption}\n" if caption else "")


def as_latex(table: pd.DataFrame, caption: str = "") -> str:
    """Return the table as LaTeX (needs the package booktabs), each group under a heading row."""
    overs, rules, end = [], [], 0
    for over, columns in groupby(over for over, _ in table.columns):
        start, end = end, end + len(list(columns))
        overs.append(rf"\multicolumn{{{end - start}}}{{c}}{{{_latex(over)}}}")
        rules += [rf"\cmidrule(lr){{{start + 1}-{end}}}"] if over else []
    lines = [f"% {caption}"] if caption else []
    lines += [rf"\begin{{tabular}}{{{''.join('r' if over else 'l' for over, _ in table.columns)}}}", r"\toprule"]
    lines += [" & ".join(overs) + r" \\", "".join(rules)]
    lines += [" & ".join(_latex(name) for _, name in table.columns) + r" \\", r"\midrule"]
    for heading, cells in zip(beginnings(table.index), table.to_numpy().tolist(), strict=True):
        if heading:
            span = rf"\multicolumn{{{len(table.columns)}}}{{l}}{{\textit{{{_latex(heading)}}}}}"
            lines += [r"\addlinespace", rf"{span} \\"]
        lines.append(" & ".join(map(_latex, cells)) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def write_grid(
    table: pd.DataFrame, folder: Path, name: str, caption: str = "", further: pd.DataFrame | None = None
) -> None:
    """Write a table as name.csv, name.md and name.tex; the columns of `further` are added to the CSV file only."""
    whole = table if further is None else pd.concat([table, further], axis=1)
    texts = {"csv": as_csv(whole), "md": as_markdown(table, caption), "tex": as_latex(table, caption)}
    for suffix, text in texts.items():
        with write_text(folder / f"{name}.{suffix}") as handle:
            handle.write(text)


def signed(value: float, digits: int = 1) -> str:
    """Return a difference as the paper prints it: with a sign, except for zero."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text


def beginnings(groups: Iterable[str]) -> list[str]:
    """Return the group of each row that begins a group, and an empty text for the other rows."""
    return [group if group != before else "" for before, group in pairwise(["", *groups])]


def _titles(table: pd.DataFrame) -> list[str]:
    return [f"{over} {name}".strip() for over, name in table.columns]


def _latex(text: str) -> str:
    escaped = "".join(LATEX.get(character, character) for character in text)
    return re.sub(r"(?<![\w)])-(?=\d)", "$-$", escaped)
