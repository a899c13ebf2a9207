"""PanLex: the tables of a CSV dump (the published zip or a folder) joined into translations between two varieties.

Each table is read once as a stream; only what belongs to the two language varieties stays in memory: the dump has
25 million expressions and 80 million denotations.

Translation quality is PanLex's own: of all meanings that hold both expressions, the best source quality within each
group of sources (sources copied from each other share a group), summed over the groups.
"""

import csv
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from xling.core.errors import InputError
from xling.data.dictionary import Translation
from xling.data.lines import table_rows

BLOCK_ROWS = 1 << 20
Place = tuple[Path, int]  # a table and a line of it, for messages


def read_panlex(path: Path, source: str, target: str) -> Iterator[Translation]:
    """Yield the translations from one variety to another (uids such as eng-000), in the order of their numbers."""
    if source == target:
        raise InputError(path, f"source and target are both {source}", fix="name two language varieties")
    left, right = read_expressions(path, (source, target))
    pairs = read_pairs(path, left, right)
    rated = pairs.merge(read_ratings(path, pairs["meaning"].unique()), on="meaning")
    best = rated.groupby(["source", "target", "group"])["quality"].max()
    totals = best.groupby(level=["source", "target"]).sum().reset_index()
    for one, other, quality in zip(totals["source"], totals["target"], totals["quality"], strict=True):
        yield Translation(left[one], right[other], float(quality))


def read_expressions(path: Path, uids: Sequence[str]) -> list[dict[int, str]]:
    """Return the expressions of each variety by number; runs of white space in a text become one space."""
    found: dict[str, dict[int, str]] = {str(_variety_number(path, uid)): {} for uid in uids}
    for place, (number, langvar, text) in text_rows(path, "expr.csv", ("id", "langvar", "txt")):
        if langvar in found and (words := text.split()):
            found[langvar][integer(number, place)] = " ".join(words)
    for uid, texts in zip(uids, found.values(), strict=True):
        if not texts:
            raise InputError(path, f"expr.csv has no expression of {uid}")
    return list(found.values())


def read_pairs(path: Path, left: Collection[int], right: Collection[int]) -> pd.DataFrame:
    """Return every (source, target, meaning) of a left and a right expression that share a meaning."""
    wanted = pd.Index(left).append(pd.Index(right))
    blocks = number_blocks(path, "denotation.csv", ("meaning", "expr"))
    denoted = pd.concat([block[block["expr"].isin(wanted)] for block in blocks])
    sides = (
        denoted[denoted["expr"].isin(pd.Index(ids))].rename(columns={"expr": name})
        for name, ids in (("source", left), ("target", right))
    )
    return next(sides).merge(next(sides), on="meaning")


def read_ratings(path: Path, meanings: Sequence[int]) -> pd.DataFrame:
    """Return the group and the quality of the source of each meaning; a source without a rating counts 0."""
    blocks = number_blocks(path, "meaning.csv", ("id", "source"))
    known = pd.concat([block[block["id"].isin(meanings)] for block in blocks]).set_index("id")["source"]
    if missing := sorted(set(meanings) - set(known.index)):
        raise InputError(path, f"meaning {missing[0]} of denotation.csv is not in meaning.csv")
    used, ratings = set(known), {}
    for place, (number, group, quality) in text_rows(path, "source.csv", ("id", "grp", "quality")):
        if (source := integer(number, place)) in used:
            ratings[source] = integer(group, place), integer(quality or "0", place)
    if unrated := sorted(used - ratings.keys()):
        raise InputError(path, f"source {unrated[0]} of meaning.csv is not in source.csv")
    rows = [(meaning, *ratings[source]) for meaning, source in known.items()]
    return pd.DataFrame(rows, columns=["meaning", "group", "quality"], dtype=np.int64)


def text_rows(dump: Path, name: str, columns: Sequence[str]) -> Iterator[tuple[Place, list[str]]]:
    """Yield (place, the named columns) of every row of a table whose fields may be quoted."""
    with open_table(dump, name) as (table, handle):
        rows = csv.reader(_decoded(table, handle), strict=True)
        try:
            for line, fields in table_rows(table, columns, ((rows.line_num, fields) for fields in rows)):
                yield (table, line), fields
        except csv.Error as error:
            raise InputError(table, f"not CSV: {error}", line=rows.line_num) from None


def number_blocks(dump: Path, name: str, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield blocks of rows of the named columns of a table that holds only whole numbers."""
    with open_table(dump, name) as (table, handle):
        try:
            yield from pd.read_csv(handle, usecols=list(columns), dtype=np.int64, chunksize=BLOCK_ROWS)
        except ValueError as error:  # does not say where: look for the line
            for place, fields in text_rows(dump, name, columns):
                for field in fields:
                    integer(field, place)
            raise InputError(table, f"not a table of whole numbers: {error}") from None


def integer(text: str, place: Place) -> int:
    """Return the whole number that a field holds, or name its place."""
    if not (text.isascii() and text.isdigit()):
        raise InputError(place[0], f"{text!r} is not a whole number", line=place[1])
    return int(text)


@contextmanager
def open_table(dump: Path, name: str) -> Iterator[tuple[Path, IO[bytes]]]:
    """Open a table of a dump, which is a zip or a folder: at its top, or one folder down as in the published zip."""
    try:
        top = dump if dump.is_dir() else zipfile.Path(dump)
        places = (top / name, *sorted((folder / name for folder in top.iterdir()), key=str))
        table = next((place for place in places if place.is_file()), None)
        if table is None:
            raise InputError(dump, f"no {name} in it", fix="expected a PanLex CSV dump, a zip or a folder")
        with table.open("rb") as handle:
            yield Path(str(table)), handle
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(dump, f"not a whole zip archive: {error}", fix="fetch the dump again") from None


def _variety_number(path: Path, uid: str) -> int:
    """Return the number of the variety with this uid: a language code and a three-digit variety code."""
    code = uid.partition("-")[0]
    known = []
    for place, (number, language, variety) in text_rows(path, "langvar.csv", ("id", "lang_code", "var_code")):
        if language == code:
            known.append(f"{language}-{integer(variety, place):03d}")
            if known[-1] == uid:
                return integer(number, place)
    found = ", ".join(sorted(known)[:10]) or f"no variety of {code}"
    raise InputError(path, f"langvar.csv has no language variety {uid} (it has: {found})")


def _decoded(table: Path, handle: IO[bytes]) -> Iterator[str]:
    for line, raw in enumerate(handle, start=1):
        try:
            yield raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(table, f"not UTF-8 (byte {raw[error.start]:#04x})", line=line) from None
