"""PanLex: the tables of a dump joined into translations between two language varieties.

The tables are read in the order langvar, expr, denotation, meaning, source, each once as a stream. What stays in memory
is what belongs to the two varieties, in flat arrays: the dump has 25 million expressions and 80 million denotations.

Translation quality is PanLex's own: of all meanings that hold both expressions, the best source quality within each
group of sources (sources copied from each other share a group), summed over the groups.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import InputError
from xling.data.panlex_dump import integer, number_blocks, text_rows

Ids = NDArray[np.int64]
Pairs = tuple[Ids, Ids, Ids]  # source expression, target expression, meaning: one entry for each time they meet


@dataclass(frozen=True, slots=True)
class Translation:
    """A dictionary entry: an expression, one of its translations and how good that is."""

    source: str
    target: str
    quality: float


@dataclass(frozen=True, slots=True)
class Expressions:
    """All expressions of one variety: their ids sorted, and where the text of each lies in `text`."""

    ids: Ids
    starts: Ids
    ends: Ids
    text: bytes

    def of(self, index: int) -> str:
        """Return the text of the expression at a position of `ids`."""
        return self.text[self.starts[index] : self.ends[index]].decode()


def read_panlex(path: Path, source: str, target: str) -> Iterator[Translation]:
    """Yield the translations from one variety to another (uids such as eng-000), sorted by source, then target."""
    if source == target:
        raise InputError(path, f"source and target are both {source}", fix="name two language varieties")
    left, right = read_expressions(path, {uid: variety_id(path, uid) for uid in (source, target)})
    sources, targets, meanings = meet(*read_denotations(path, (left.ids, right.ids)))
    groups, qualities = read_ratings(path, meanings)
    pairs, totals = sum_of_best(sources * len(right.ids) + targets, groups, qualities)
    yield from in_order(left, right, *np.divmod(pairs, len(right.ids)), totals)


def variety_id(path: Path, uid: str) -> int:
    """Return the number of the language variety with this uid: a language code and a three-digit variety code."""
    code = uid.partition("-")[0]
    known = []
    for place, (number, language, variety) in text_rows(path, "langvar.csv", ("id", "lang_code", "var_code")):
        if language == code:
            known.append(f"{language}-{integer(variety, place):03d}")
            if known[-1] == uid:
                return integer(number, place)
    found = ", ".join(sorted(known)[:10]) or f"no variety of {code}"
    raise InputError(path, f"langvar.csv has no language variety {uid} (it has: {found})")


def read_expressions(path: Path, varieties: Mapping[str, int]) -> list[Expressions]:
    """Return the expressions of varieties given by uid and number; runs of white space in a text become one space."""
    found = {str(number): _Growing() for number in varieties.values()}
    for place, (number, langvar, txt) in text_rows(path, "expr.csv", ("id", "langvar", "txt")):
        variety = found.get(langvar)
        if variety is not None and (words := txt.split()):
            variety.add(integer(number, place), " ".join(words))
    for (uid, _), variety in zip(varieties.items(), found.values(), strict=True):
        if not variety.ids:
            raise InputError(path, f"expr.csv has no expression of {uid}")
    return [variety.sorted() for variety in found.values()]


def read_denotations(path: Path, varieties: tuple[Ids, Ids]) -> list[tuple[Ids, Ids]]:
    """Return for each variety the meanings that its expressions denote, and the position of the expression."""
    found: list[list[tuple[Ids, Ids]]] = [[] for _ in varieties]
    for block in number_blocks(path, "denotation.csv", ("meaning", "expr")):
        for ids, kept in zip(varieties, found, strict=True):
            positions, known = look_up(ids, block[:, 1])
            if known.any():
                kept.append((block[known, 0], positions[known]))
    return [(_joined(meanings for meanings, _ in kept), _joined(place for _, place in kept)) for kept in found]


def meet(left: tuple[Ids, Ids], right: tuple[Ids, Ids]) -> Pairs:
    """Return every pair of a left and a right expression that share a meaning, with that meaning."""
    by_meaning = np.argsort(right[0], kind="stable")
    meanings, targets = right[0][by_meaning], right[1][by_meaning]
    first, last = (np.searchsorted(meanings, left[0], side=side) for side in ("left", "right"))
    times = last - first
    row = np.repeat(np.arange(len(times)), times)
    within = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
    return left[1][row], targets[first[row] + within], left[0][row]


def read_ratings(path: Path, meanings: Ids) -> tuple[Ids, Ids]:
    """Return the group and the quality of the source that each meaning comes from; a source not rated counts 0."""
    needed, back = np.unique(meanings, return_inverse=True)
    source = np.full(len(needed), -1, dtype=np.int64)
    for block in number_blocks(path, "meaning.csv", ("id", "source")):
        positions, known = look_up(needed, block[:, 0])
        source[positions[known]] = block[known, 1]
    if (source < 0).any():
        raise InputError(path, f"meaning {needed[source < 0][0]} of denotation.csv is not in meaning.csv")
    used, which = np.unique(source, return_inverse=True)
    ratings = _source_ratings(path, {int(number): i for i, number in enumerate(used)})
    return ratings[which[back], 0], ratings[which[back], 1]


def sum_of_best(keys: Ids, groups: Ids, qualities: Ids) -> tuple[Ids, Ids]:
    """Return each key once, sorted, with the sum over its groups of the best quality in the group."""
    order = np.lexsort((qualities, groups, keys))
    keys, groups, qualities = keys[order], groups[order], qualities[order]
    best = np.append((keys[1:] != keys[:-1]) | (groups[1:] != groups[:-1]), True)[: len(keys)]
    unique, first = np.unique(keys[best], return_index=True)
    return unique, np.add.reduceat(qualities[best], first) if len(first) else qualities[best]


def in_order(
    left: Expressions, right: Expressions, sources: Ids, targets: Ids, qualities: Ids
) -> Iterator[Translation]:
    """Yield the pairs sorted by their texts, holding each text once."""
    (words, rank), (translations, other_rank) = _ranked(left, sources), _ranked(right, targets)
    for i in np.lexsort((other_rank, rank)):
        yield Translation(words[rank[i]], translations[other_rank[i]], float(qualities[i]))


def look_up(ids: Ids, wanted: Ids) -> tuple[Ids, NDArray[np.bool_]]:
    """Return for each wanted id its position in the sorted ids, and whether it is there at all."""
    if not len(ids):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=np.bool_)
    positions = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return positions, ids[positions] == wanted


class _Growing:
    """Expressions while they are read: flat arrays, because a list of strings takes four times the memory."""

    def __init__(self) -> None:
        self.ids, self.ends, self.text = array("q"), array("q"), bytearray()

    def add(self, number: int, text: str) -> None:
        self.text += text.encode()
        self.ids.append(number)
        self.ends.append(len(self.text))

    def sorted(self) -> Expressions:
        ids, ends = np.asarray(self.ids, dtype=np.int64), np.asarray(self.ends, dtype=np.int64)
        order = np.argsort(ids, kind="stable")
        starts = np.concatenate([ends[:0], [0], ends[:-1]])
        return Expressions(ids[order], starts[order], ends[order], bytes(self.text))


def _source_ratings(path: Path, row_of: dict[int, int]) -> Ids:
    ratings = np.full((len(row_of), 2), -1, dtype=np.int64)
    for place, (number, group, quality) in text_rows(path, "source.csv", ("id", "grp", "quality")):
        row = row_of.get(integer(number, place))
        if row is not None:
            ratings[row] = integer(group, place), integer(quality or "0", place)
    for source, row in row_of.items():
        if ratings[row, 0] < 0:
            raise InputError(path, f"source {source} of meaning.csv is not in source.csv")
    return ratings


def _ranked(expressions: Expressions, positions: Ids) -> tuple[list[str], Ids]:
    """Return the sorted texts of the expressions in use, and where each position's text stands among them."""
    used, back = np.unique(positions, return_inverse=True)
    texts = [expressions.of(index) for index in used]
    words = sorted(set(texts))
    rank = {word: i for i, word in enumerate(words)}
    return words, np.array([rank[text] for text in texts], dtype=np.int64)[back]


def _joined(parts: Iterable[Ids]) -> Ids:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])
