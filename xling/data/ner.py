"""Named entities: WikiAnn, CoNLL-2003 and MSRA, all converted to BIO tags of words (section 3.2 of the paper)."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from xling.core.errors import InputError
from xling.data.lines import Record, blocks

TYPES = ("LOC", "MISC", "ORG", "PER")  # MISC is kept in the label set
OUTSIDE = "O"
DOCUMENT = "-DOCSTART-"
MSRA_TYPES = {"NR": "PER", "NS": "LOC", "NT": "ORG"}  # type names in the original bakeoff files
MSRA_TAG = re.compile(r"([BIMES])-([A-Z]+)")


def to_bio(tags: Iterable[str]) -> list[str]:
    """Convert IOB1 to BIO: every entity begins with B-, not only an entity that follows another of the same type.

    BIO input stays unchanged, except that an I- tag that continues no entity of its type becomes B-.
    """
    result, before = [], OUTSIDE
    for tag in tags:
        starts = tag.startswith("I-") and before[2:] != tag[2:]
        result.append("B-" + tag[2:] if starts else tag)
        before = tag
    return result


def read_wikiann(path: Path, counts: Counter[str], expected: str | None = None) -> Iterator[Record]:
    """Yield the sentences of a WikiAnn file (`xx:token<TAB>TAG`); if `expected` is given, all must be in that language.

    Tags changed by the conversion to BIO are counted as repaired.
    """
    for block in blocks(path):
        words, tags = [], []
        for number, line in block:
            fields = line.split("\t")
            if len(fields) != 2:
                raise InputError(path, f"{len(fields)} columns where xx:token<TAB>TAG was expected", line=number)
            language, _, word = fields[0].partition(":")  # a token may contain more colons
            if not (language and word):
                problem = f"{fields[0]!r} is not a token after a language prefix such as en:"
                raise InputError(path, problem, line=number)
            # A code may include a variety: be-x-old, which studies spell be_x_old, belongs to be.
            if expected and len({code.replace("_", "-").partition("-")[0] for code in (language, expected)}) > 1:
                fix = "name another file, or the language by the code that the file has"
                raise InputError(path, f"a token of {language!r}, expected {expected!r}", line=number, fix=fix)
            words.append(word)
            tags.append(_known(path, number, fields[1]))
        fixed = to_bio(tags)
        counts["repaired"] += sum(old != new for old, new in zip(tags, fixed, strict=True))
        yield {"words": words, "tags": fixed}


def read_conll2003(path: Path) -> Iterator[Record]:
    """Yield the sentences of a CoNLL-2003 file: word, part of speech, chunk, entity in IOB1."""
    for block in blocks(path):
        rows = []
        for number, line in block:
            fields = line.split(" ")
            if len(fields) != 4:
                problem = f"{len(fields)} columns where word, tag, chunk and entity were expected"
                raise InputError(path, problem, line=number)
            rows.append((fields[0], _known(path, number, fields[3])))
        if rows := [row for row in rows if row[0] != DOCUMENT]:
            yield {"words": [word for word, _ in rows], "tags": to_bio(tag for _, tag in rows)}


def read_msra(path: Path, segment: Callable[[str], list[str]], counts: Counter[str]) -> Iterator[Record]:
    """Yield the sentences of an MSRA file (`character TAG`), with the tags moved to the words that `segment` finds.

    The tag of a row with several characters covers all of them. If the segmenter changes characters of a sentence, its
    words are its single characters, and it is counted as unsegmented.
    """
    for block in blocks(path):
        characters: list[str] = []
        tags: list[str] = []
        for number, line in block:
            text, _, tag = line.rpartition("\t" if "\t" in line else " ")
            if not text:
                raise InputError(path, "expected a character and its tag, split by a tab or a space", line=number)
            if match := MSRA_TAG.fullmatch(tag):  # BIOES or BMES tags, also with the bakeoff's type names
                tag = f"{'B' if match[1] in 'BS' else 'I'}-{MSRA_TYPES.get(match[2], match[2])}"
            bio = _known(path, number, tag)
            characters += text
            tags += [bio] + [bio.replace("B-", "I-", 1)] * (len(text) - 1)
        sentence = "".join(characters)
        words = [word for word in segment(sentence) if word.strip()]
        if _without_spaces("".join(words)) != _without_spaces(sentence):
            words = list(_without_spaces(sentence))
            counts["unsegmented"] += 1
        if words:
            yield {"words": words, "tags": realign(characters, tags, words, counts)}


def realign(characters: Sequence[str], tags: Sequence[str], words: Sequence[str], counts: Counter[str]) -> list[str]:
    """Return the BIO tags of words from the BIO tags of their characters; white space in either is ignored.

    A word represents the entity that covers its first labelled character, and takes its type. The first word that
    represents an entity is tagged B-, the others I-. Counted: words, cut (words with an entity boundary inside),
    shared (words that overlap two or more entities), lost (entities that no word represents).
    """
    bio = to_bio(tags)
    begun = list(accumulate(tag.startswith("B-") for tag in bio))
    entity = [0 if tag == OUTSIDE else number for tag, number in zip(bio, begun, strict=True)]  # from 1, 0 for none
    solid = [i for i, character in enumerate(characters) if not character.isspace()]
    result, standing, start = [], set(), 0
    counts["words"] += len(words)
    for word in words:
        end = start + len(_without_spaces(word))
        span, start = solid[start:end], end
        touched = list(dict.fromkeys(entity[i] for i in span))
        inside = [number for number in touched if number]
        counts["cut"] += len(touched) > 1
        counts["shared"] += len(inside) > 1
        if not inside:
            result.append(OUTSIDE)
            continue
        kind = tags[entity.index(inside[0])][2:]
        result.append(("I-" if inside[0] in standing else "B-") + kind)
        standing.add(inside[0])
    counts["lost"] += max(entity, default=0) - len(standing)
    return result


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _known(path: Path, number: int, tag: str) -> str:
    if tag != OUTSIDE and not (tag[:2] in ("B-", "I-") and tag[2:] in TYPES):
        raise InputError(path, f"tag {tag!r} is none of O, B-X, I-X with X in {', '.join(TYPES)}", line=number)
    return tag
