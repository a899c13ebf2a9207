"""CoNLL-U treebanks (section 3.2 of the paper), read strictly: a sentence that is not a tree is an error.

The gold words for parsing are the rows with a plain number. Multiword tokens (`3-4`) and empty nodes (`8.1`) are
skipped after a check of their order.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from xling.core.errors import InputError
from xling.data.lines import NumberedLine, Record, blocks

UPOS = frozenset(  # the 17 parts of speech of Universal Dependencies v2
    [
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
        *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
    ]
)
COLUMNS = 10
MULTIWORD, EMPTY = re.compile(r"([1-9]\d*)-([1-9]\d*)"), re.compile(r"(\d+)\.([1-9]\d*)")


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
