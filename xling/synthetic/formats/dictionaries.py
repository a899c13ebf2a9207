"""Bilingual dictionaries: word lists of MUSE, and the tables of a PanLex CSV dump.

The quality of a PanLex translation is the sum, over groups of sources, of the best source quality in the group
(docs/choices.md). An entry of quality q is therefore attested by sources whose sum is q.
"""

import csv
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from xling.core.io import write_text
from xling.synthetic.corpus import Translation
from xling.synthetic.formats.text import write_lines

TRAINING_SHARE = 5000 / 6500  # MUSE trains on the 5,000 most frequent source words and tests on the next 1,500
GOOD = 4  # lowest quality (of 1 to 9) in MUSE, which has no nearly right translations
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
SOURCES = (  # id, name, quality, group; the sources in a group depend on each other
    (11, "Large", 5, 1),
    (12, "Large-2nd", 3, 1),  # an older edition with the same entries, which adds nothing to the sum
    (21, "Middle", 2, 2),
    (31, "Small", 1, 3),
    (41, "Web", 1, 4),
)
ATTESTED_BY = {
    1: (31,), 2: (21,), 3: (21, 31), 4: (21, 31, 41), 5: (11, 12), 6: (11, 12, 41), 7: (11, 12, 21),
    8: (11, 12, 21, 31), 9: (11, 12, 21, 31, 41),
}  # fmt: skip
DIALECT_WORDS = 10


def write_muse(
    folder: Path, source: str, target: str, pairs: Iterable[Translation], frequency: Mapping[str, float]
) -> None:
    """Write `source target` lines to three files: all, training and test; frequent words and good translations first.

    Training and test share no source word.
    """
    single = (pair for pair in pairs if pair.quality >= GOOD and " " not in pair.source + pair.target)
    ranked = sorted(single, key=lambda pair: (-frequency.get(pair.source, 0), pair.source, -pair.quality, pair.target))
    entries: dict[str, dict[str, None]] = {}
    for pair in ranked:
        entries.setdefault(pair.source.lower(), {})[pair.target.lower()] = None
    words = list(entries)
    border = round(TRAINING_SHARE * len(words))
    for part, chosen in {"": words, ".0-5000": words[:border], ".5000-6500": words[border:]}.items():
        lines = (f"{word} {translation}" for word in chosen for translation in entries[word])
        write_lines(folder / f"{source}-{target}{part}.txt", lines)


def write_panlex(folder: Path, source: str, dictionaries: Mapping[str, Sequence[Translation]]) -> None:
    """Write the five PanLex tables for dictionaries from `source` to each target; languages are three-letter codes."""
    varieties: dict[str, int] = {}  # ids by names such as fra-000
    expressions: dict[tuple[int, str], int] = {}
    meanings: list[tuple[int, int]] = []
    denotations: list[tuple[int, int, int]] = []

    def expression(uid: str, text: str) -> int:
        variety = varieties.setdefault(uid, len(varieties) + 1)
        return expressions.setdefault((variety, text), len(expressions) + 1)

    def add_meaning(dictionary: int, shared_by: Sequence[int]) -> None:
        meanings.append((len(meanings) + 1, dictionary))
        for number in shared_by:
            denotations.append((len(denotations) + 1, len(meanings), number))

    for target, entries in dictionaries.items():
        attested: dict[tuple[int, str], list[str]] = {}  # translations by (source, headword)
        for entry in entries:
            for dictionary in ATTESTED_BY[entry.quality]:
                attested.setdefault((dictionary, entry.source), []).append(entry.target)
        for (dictionary, word), translations in attested.items():
            foreign = [expression(f"{target}-000", text) for text in dict.fromkeys(translations)]
            add_meaning(dictionary, [expression(f"{source}-000", word), *foreign])
        # Wrong translations from another variety of the source language, which a reader must ignore.
        for entry, neighbour in pairwise(entries[:DIALECT_WORDS]):
            headword = expression(f"{source}-001", entry.source)
            add_meaning(31, [headword, expression(f"{target}-000", neighbour.target)])
    names = {uid: expression("art-274", uid) for uid in list(varieties)}
    tables: dict[str, Iterable[Sequence[object]]] = {
        "source": (
            (number, "2012-03-01", f"art:{name}", *[""] * 3, name, "", 2012, quality, group, *[""] * 5)
            for number, name, quality, group in SOURCES
        ),
        "langvar": (
            (number, uid[:3], int(uid[4:]), "t", names.get(uid, ""), *[""] * 3, names.get(uid, ""), "")
            for uid, number in varieties.items()
        ),
        "expr": ((number, variety, text, degraded(text)) for (variety, text), number in expressions.items()),
        "meaning": meanings,
        "denotation": denotations,
    }
    for table, rows in tables.items():
        with write_text(folder / f"{table}.csv") as handle:
            writer = csv.writer(handle, lineterminator="\n")
            writer.writerows([HEADERS[table], *rows])


def degraded(text: str) -> str:
    """Return the degraded text that PanLex uses for look-ups: lower case, only letters and digits, no accents."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text.lower()) if letter.isalnum())
