"""The tables of PanLex's CSV dump that a bilingual dictionary is joined from.

An entry of quality q is attested by sources whose groups' best qualities add up to q, so that the translation quality
(sum over source groups of the best source quality, docs/choices.md) gives q back.
"""

import csv
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from xling.core.io import write_text
from xling.synthetic.types import Translation

HEADERS = {
    "source": (
        "id", "reg_date", "label", "url", "isbn", "author", "title", "publisher", "year", "quality", "grp", "note",
        "license", "ip_claim", "ip_claimant", "ip_claimant_email",
    ),
    "langvar": (
        "id", "lang_code", "var_code", "mutable", "name_expr", "script_expr", "meaning", "region_expr", "uid_expr",
        "grp",
    ),
    "expr": ("id", "langvar", "txt", "txt_degr"),
    "meaning": ("id", "source"),
    "denotation": ("id", "meaning", "expr"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """A dictionary that PanLex has read; those of one group are not independent of each other."""

    id: int
    label: str
    quality: int
    group: int


SOURCES = (
    Source(11, "Large", 5, 1),
    Source(12, "Large-2nd", 3, 1),  # an older edition: attests the same, adds nothing to the sum
    Source(21, "Middle", 2, 2),
    Source(31, "Small", 1, 3),
    Source(41, "Web", 1, 4),
)
ATTESTED_BY = {
    1: (31,), 2: (21,), 3: (21, 31), 4: (21, 31, 41), 5: (11, 12), 6: (11, 12, 41), 7: (11, 12, 21),
    8: (11, 12, 21, 31), 9: (11, 12, 21, 31, 41),
}  # fmt: skip

DIALECT_WORDS = 10

Row = tuple[object, ...]


@dataclass(slots=True)
class Tables:
    """The rows collected so far, with the ids that rows of other tables refer to."""

    langvars: dict[str, int] = field(default_factory=dict)
    expressions: dict[tuple[int, str], int] = field(default_factory=dict)
    meanings: list[Row] = field(default_factory=list)
    denotations: list[Row] = field(default_factory=list)

    def langvar(self, uid: str) -> int:
        """Return the id of a language variety such as fra-000."""
        return self.langvars.setdefault(uid, len(self.langvars) + 1)

    def expression(self, uid: str, text: str) -> int:
        """Return the id of an expression of a language variety."""
        return self.expressions.setdefault((self.langvar(uid), text), len(self.expressions) + 1)

    def add_meaning(self, source: int, expressions: Iterable[int]) -> None:
        """Let a source say that these expressions share a meaning."""
        meaning = len(self.meanings) + 1
        self.meanings.append((meaning, source))
        for expression in expressions:
            self.denotations.append((len(self.denotations) + 1, meaning, expression))


def write_panlex(folder: Path, source: str, dictionaries: Mapping[str, Sequence[Translation]]) -> None:
    """Write the five tables for dictionaries from `source` to each target, languages by three-letter codes."""
    tables = Tables()
    for target, entries in dictionaries.items():
        add_dictionary(tables, f"{source}-000", f"{target}-000", entries)
        _add_dialect(tables, f"{source}-001", f"{target}-000", entries)
    names = {uid: tables.expression("art-274", uid) for uid in list(tables.langvars)}
    _write(folder, "source", [_source_row(row) for row in SOURCES])
    _write(folder, "langvar", [_langvar_row(tables, uid, names.get(uid, "")) for uid in tables.langvars])
    expressions = tables.expressions.items()
    _write(folder, "expr", [(number, variety, text, degraded(text)) for (variety, text), number in expressions])
    _write(folder, "meaning", tables.meanings)
    _write(folder, "denotation", tables.denotations)


def add_dictionary(tables: Tables, source: str, target: str, entries: Iterable[Translation]) -> None:
    """Add a meaning for each source and headword, with all translations that the source has for it."""
    attested: dict[tuple[int, str], list[str]] = {}
    for entry in entries:
        for dictionary in ATTESTED_BY[entry.quality]:
            attested.setdefault((dictionary, entry.source), []).append(entry.target)
    for (dictionary, word), translations in attested.items():
        foreign = [tables.expression(target, text) for text in dict.fromkeys(translations)]
        tables.add_meaning(dictionary, [tables.expression(source, word), *foreign])


def _add_dialect(tables: Tables, source: str, target: str, entries: Sequence[Translation]) -> None:
    """Give another variety of the source language wrong translations: a join that ignores varieties picks them up."""
    for entry, neighbour in pairwise(entries[:DIALECT_WORDS]):
        tables.add_meaning(31, [tables.expression(source, entry.source), tables.expression(target, neighbour.target)])


def degraded(text: str) -> str:
    """Return a text as PanLex degrades it for look-ups: lower case, letters and digits only, no accents."""
    letters = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in letters if letter.isalnum())


def _source_row(source: Source) -> Row:
    details = (source.id, "2012-03-01", f"art:{source.label}", "", "", "", source.label, "", 2012)
    return (*details, source.quality, source.group, "", "", "", "", "")


def _langvar_row(tables: Tables, uid: str, uid_expression: object) -> Row:
    code, variety = uid.split("-")
    return (tables.langvars[uid], code, int(variety), "t", uid_expression, "", "", "", uid_expression, "")


def _write(folder: Path, table: str, rows: Iterable[Row]) -> None:
    with write_text(folder / f"{table}.csv") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(HEADERS[table])
        writer.writerows(rows)
