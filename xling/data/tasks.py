"""The official files of the three tasks (section 3.2 of the paper): XNLI, named entities and CoNLL-U treebanks.

Files are read strictly: an error names the line. Of XNLI's training set (XNLI-MT 1.0), rows with an empty sentence are
skipped and counted; an empty sentence in an evaluation row is an error. WikiAnn, CoNLL-2003 and MSRA are all converted
to BIO tags of words. A sentence of a treebank that is not a tree is an error; its gold words are the rows with a plain
number, and multiword tokens (`3-4`) and empty nodes (`8.1`) are skipped after a check of their order.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from xling.core.errors import InputError
from xling.data.lines import NumberedLine, Record, blocks, table_rows

NLI_LABELS = ("entailment", "neutral", "contradiction")
OTHER_NAMES = {"contradictory": "contradiction"}  # label names in XNLI-MT
UNDECIDED = "-"  # the annotators did not agree
TYPES = ("LOC", "MISC", "ORG", "PER")  # MISC is kept in the label set
OUTSIDE = "O"
DOCUMENT = "-DOCSTART-"
LONGEST = 1000  # tokens of a sentence of WikiAnn, whose longest have some 100
MSRA_TYPES = {"NR": "PER", "NS": "LOC", "NT": "ORG"}  # type names in the original bakeoff files
MSRA_TAG = re.compile(r"([BIMES])-([A-Z]+)")
UPOS = frozenset(  # the 17 parts of speech of Universal Dependencies v2
    [
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
        *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
    ]
)
COLUMNS = 10
MULTIWORD, EMPTY = re.compile(r"([1-9]\d*)-([1-9]\d*)"), re.compile(r"(\d+)\.([1-9]\d*)")


def read_xnli(path: Path, language: str, counts: Counter[str]) -> Iterator[Record]:
    """Yield the rows of one language in xnli.dev.tsv or xnli.test.tsv; rows without a gold label count as undecided."""
    seen: dict[str, None] = {}  # a dict keeps the order in which languages appear
    for line, (code, *row) in table_rows(path, ("language", "sentence1", "sentence2", "gold_label")):
        seen[code] = None
        if code == language and (example := _checked(path, line, row, counts)):
            if not _whole(example):
                raise InputError(path, "a sentence is empty", line=line, fix="evaluation rows are never left out")
            yield example
    if language not in seen:
        raise InputError(path, f"no rows of language {language!r} (has: {', '.join(seen) or 'none'})")


def read_xnli_mt(path: Path, counts: Counter[str]) -> Iterator[Record]:
    """Yield the rows of multinli.train.en.tsv (premise, hypo, label) from XNLI-MT 1.0."""
    for line, row in table_rows(path, ("premise", "hypo", "label")):
        if example := _checked(path, line, row, counts):
            if _whole(example):
                yield example
            else:
                counts["empty"] += 1


def _checked(path: Path, line: int, row: list[str], counts: Counter[str]) -> Record | None:
    """Return the example in a row (premise, hypothesis, label), or None if the row has no gold label."""
    premise, hypothesis, label = row
    if label == UNDECIDED:
        counts["undecided"] += 1
        return None
    name = OTHER_NAMES.get(label, label)
    if name not in NLI_LABELS:
        raise InputError(path, f"label {label!r} is none of {', '.join(NLI_LABELS)}", line=line)
    return {"premise": premise, "hypothesis": hypothesis, "label": name}


def _whole(example: Record) -> bool:
    return bool(example["premise"].strip() and example["hypothesis"].strip())


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
        if len(block) > LONGEST:
            fix = "is a blank line missing between sentences?"
            raise InputError(path, f"a sentence of {len(block)} tokens", line=block[0][0], fix=fix)
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


def read_conllu(path: Path) -> Iterator[Record]:
    """Yield the checked sentences of a CoNLL-U file: words, heads, relations and parts of speech.

    Heads are word numbers from 1, or 0 for the root. Relations are reduced to the universal part: `acl:relcl` becomes
    `acl`.
    """
    for block in blocks(path):
        rows = _words(path, block)
        lines = [line for line, _ in rows]
        forms, upos, heads, deprels = zip(*((row[1], row[3], row[6], row[7]) for _, row in rows), strict=True)
        universal = [deprel.partition(":")[0] for deprel in deprels]
        for number, line in enumerate(lines):
            if upos[number] not in UPOS:
                problem = f"part of speech {upos[number]!r} is not one of the universal 17"
                raise InputError(path, problem, line=line)
            if not heads[number].isascii() or not heads[number].isdigit() or int(heads[number]) > len(rows):
                problem = f"head {heads[number]!r} of word {number + 1} is not in 0 to {len(rows)}"
                raise InputError(path, problem, line=line)
            if not universal[number] or universal[number] == "_":
                raise InputError(path, f"word {number + 1} has no relation to its head", line=line)
        roots = [number for number, head in enumerate(heads) if head == "0"]
        if len(roots) != 1:
            found = ", ".join(str(number + 1) for number in roots) or "none"
            where = lines[roots[1]] if roots else block[0][0]
            raise InputError(path, f"a tree has exactly one root (found: {found})", line=where)
        numbers = list(map(int, heads))
        if on_cycle := find_cycle(numbers):
            raise InputError(path, f"word {on_cycle} is its own ancestor", line=lines[on_cycle - 1])
        yield {"words": list(forms), "heads": numbers, "deprels": universal, "upos": list(upos)}


def find_cycle(heads: Sequence[int]) -> int:
    """Return the number (from 1) of a word on a cycle of heads, or 0 if there is no cycle."""
    state = [0] * (len(heads) + 1)  # 0 if unseen, otherwise the start of the walk that first reached the word
    for start in range(1, len(heads) + 1):
        node = start
        while node and not state[node]:
            state[node] = start
            node = heads[node - 1]
        if node and state[node] == start:
            return node
    return 0


def _words(path: Path, block: list[NumberedLine]) -> list[tuple[int, list[str]]]:
    """Return the line number and columns of each word of a sentence, and check multiword tokens and empty nodes."""
    words: list[tuple[int, list[str]]] = []
    rows = covered = empty = 0
    for line, text in block:
        if text.startswith("#"):
            if rows:
                fix = "is a blank line missing?"
                raise InputError(path, "a comment after the words of a sentence", line=line, fix=fix)
            continue
        rows += 1
        fields = text.split("\t")
        if len(fields) != COLUMNS:
            spaced = len(fields) == 1 and len(text.split()) >= COLUMNS and text.split()[0].isdigit()
            fix = "separate them with tabs, not with spaces" if spaced else "is it a treebank in CoNLL-U?"
            raise InputError(path, f"{len(fields)} columns where CoNLL-U has {COLUMNS}", line=line, fix=fix)
        if not all(fields):
            raise InputError(path, "an empty field", line=line, fix="CoNLL-U writes _ for nothing")
        number, before = fields[0], len(words)
        if number == str(before + 1):
            words.append((line, fields))
            empty = 0
        elif (span := MULTIWORD.fullmatch(number)) and int(span[1]) == before + 1 > covered and int(span[2]) > before:
            covered = int(span[2])
        elif (node := EMPTY.fullmatch(number)) and (int(node[1]), int(node[2])) == (before, empty + 1):
            empty += 1
        else:
            raise InputError(path, f"row number {number!r} does not follow word {before}", line=line)
    if not words:
        raise InputError(path, "comments without words", line=block[0][0])
    if covered > len(words):
        raise InputError(path, f"a multiword token reaches word {covered} of {len(words)}", line=block[0][0])
    return words
