"""PanLex: translations between two language varieties, from the tables of an unpacked CSV dump.

Each table is read once in blocks, and only rows of the two language varieties stay in memory: the dump has 25 million
expressions and 80 million denotations. The archive is verified when it is fetched, so an error here names only the
table.

Translation quality is defined as in PanLex: the meanings that contain both expressions come from sources, and sources
copied from each other share a group. The quality is the sum over groups of the best source quality in the group.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xling.core.errors import InputError
from xling.data.dictionary import Translation

BLOCK_ROWS = 1 << 20
TABLES: dict[str, dict[str, Any]] = {  # the columns that are read
    "langvar": {"id": np.int64, "lang_code": str, "var_code": np.int64},
    "expr": {"id": np.int64, "langvar": np.int64, "txt": str},
    "denotation": {"meaning": np.int64, "expr": np.int64},
    "meaning": {"id": np.int64, "source": np.int64},
    "source": {"id": np.int64, "grp": np.int64, "quality": str},
}


def read_panlex(folder: Path, source: str, target: str) -> Iterator[Translation]:
    """Yield the translations from one language variety to another (uids such as eng-000), ordered by expression ids."""
    if source == target:
        raise InputError(folder, f"source and target are both {source}", fix="name two language varieties")
    left, right = read_expressions(folder, (source, target))
    denoted = read_table(folder, "denotation", lambda rows: rows["expr"].isin(left.index.append(right.index)))
    sides = (denoted[denoted["expr"].isin(texts.index)] for texts in (left, right))
    pairs = next(sides).merge(next(sides), on="meaning", suffixes=("_left", "_right"))
    rated = pairs.merge(read_ratings(folder, pairs["meaning"]), on="meaning")
    best = rated.groupby(["expr_left", "expr_right", "grp"])["quality"].max()
    for (one, other), quality in best.groupby(level=["expr_left", "expr_right"]).sum().items():
        yield Translation(left[one], right[other], float(quality))


def read_expressions(folder: Path, uids: Sequence[str]) -> Iterator["pd.Series[str]"]:
    """Yield the expressions of each language variety by id; a run of white space in a text becomes one space."""
    codes = [uid.partition("-")[0] for uid in uids]
    known = read_table(folder, "langvar", lambda rows: rows["lang_code"].isin(codes))
    numbers = dict(zip(known["lang_code"] + known["var_code"].map("-{:03d}".format), known["id"], strict=True))
    for uid, code in zip(uids, codes, strict=True):
        if uid not in numbers:
            found = ", ".join(sorted(name for name in numbers if name.partition("-")[0] == code)[:10])
            raise InputError(
                folder, f"langvar.csv has no language variety {uid} (it has: {found or f'none of {code}'})"
            )
    texts = read_table(folder, "expr", lambda rows: rows["langvar"].isin([numbers[uid] for uid in uids]))
    texts["txt"] = texts["txt"].str.split().str.join(" ")
    for uid in uids:
        own = texts.loc[(texts["langvar"] == numbers[uid]) & (texts["txt"] != "")]
        if own.empty:
            raise InputError(folder, f"expr.csv has no expression of {uid}")
        yield own.set_index("id")["txt"]


def read_ratings(folder: Path, meanings: "pd.Series[int]") -> pd.DataFrame:
    """Return the source group and source quality of each meaning; a source without a rating has quality 0."""
    known = read_table(folder, "meaning", lambda rows: rows["id"].isin(meanings)).rename(columns={"id": "meaning"})
    sources = read_table(folder, "source", lambda rows: rows["id"].isin(known["source"]))
    try:
        sources["quality"] = sources["quality"].replace("", "0").astype(np.int64)
    except ValueError as error:
        raise InputError(folder / "source.csv", f"a quality that is no whole number: {error}") from None
    for name, wanted, found in (("meaning", meanings, known["meaning"]), ("source", known["source"], sources["id"])):
        if missing := sorted(set(wanted) - set(found)):
            raise InputError(folder / f"{name}.csv", f"no {name} {missing[0]}, which another table names")
    return known.merge(sources, left_on="source", right_on="id")


def read_table(folder: Path, name: str, wanted: Callable[[pd.DataFrame], "pd.Series[bool]"]) -> pd.DataFrame:
    """Return the wanted rows of a table."""
    path, columns = folder / f"{name}.csv", TABLES[name]
    try:
        blocks = pd.read_csv(path, usecols=list(columns), dtype=columns, na_filter=False, chunksize=BLOCK_ROWS)
        return pd.concat([block[wanted(block)] for block in blocks])
    except (ValueError, pd.errors.ParserError) as error:
        fix = "expected a folder with the tables of a PanLex CSV dump"
        raise InputError(path, f"not a table with {', '.join(columns)}: {error}".replace("\n", " "), fix=fix) from None
