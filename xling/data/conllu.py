"""CoNLL-U treebanks (section 3.2 of the paper), read without losing anything of a file.

The gold words of parsing are the rows with a plain number; multiword tokens (`3-4`) and empty nodes (`8.1`) are
kept beside them. We have our own parser because the common library rewrites features and comments.
"""

import re
from collections import namedtuple
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from xling.core.errors import InputError
from xling.data.lines import NumberedLine, blocks

UPOS = frozenset(  # the 17 of Universal Dependencies v2
    [
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
        *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
    ]
)
WORD, MULTIWORD, EMPTY = re.compile(r"[1-9]\d*"), re.compile(r"([1-9]\d*)-([1-9]\d*)"), re.compile(r"(\d+)\.([1-9]\d*)")
Row = namedtuple("Row", "id form lemma upos xpos feats head deprel deps misc")  # texts, as they stand in the file


@dataclass(frozen=True)
class Tree:
    """One sentence: its comments, all its rows, and the line of its first comment or row."""

    comments: tuple[str, ...]
    rows: tuple[Row, ...]
    line: int

    @cached_property
    def numbered_words(self) -> list[tuple[int, Row]]:
        """Return the rows of syntactic words, each with its line."""
        return [(line, row) for line, row in self.numbered_rows() if WORD.fullmatch(row.id)]

    def numbered_rows(self) -> Iterator[tuple[int, Row]]:
        """Yield all rows, each with its line."""
        return enumerate(self.rows, start=self.line + len(self.comments))

    @property
    def words(self) -> tuple[str, ...]:
        """Return the forms of the syntactic words."""
        return tuple(row.form for _, row in self.numbered_words)

    @property
    def heads(self) -> tuple[int, ...]:
        """Return the head of each word, counted from 1, 0 for the root."""
        return tuple(int(row.head) for _, row in self.numbered_words)

    @property
    def deprels(self) -> tuple[str, ...]:
        """Return the relation of each word to its head, with its subtype."""
        return tuple(row.deprel for _, row in self.numbered_words)

    @property
    def upos(self) -> tuple[str, ...]:
        """Return the universal part of speech of each word."""
        return tuple(row.upos for _, row in self.numbered_words)


def universal(deprel: str) -> str:
    """Return the universal part of a relation: `acl:relcl` is `acl`."""
    return deprel.partition(":")[0]


def read_conllu(path: Path) -> Iterator[Tree]:
    """Yield the checked sentences of a CoNLL-U file."""
    for block in blocks(path):
        tree = _parse(path, block)
        _check_tree(path, tree, _check_ids(path, tree))
        yield tree


def find_cycle(heads: Sequence[int]) -> int:
    """Return the first word (from 1) that is on a cycle of heads, or 0 if there is none."""
    state = [0] * (len(heads) + 1)  # 0 unseen, else the walk that came here first
    for start in range(1, len(heads) + 1):
        node = start
        while node and not state[node]:
            state[node] = start
            node = heads[node - 1]
        if node and state[node] == start:
            return node
    return 0


def _parse(path: Path, block: list[NumberedLine]) -> Tree:
    comments: list[str] = []
    rows: list[Row] = []
    for number, line in block:
        if line.startswith("#"):
            if rows:
                fix = "is a blank line missing?"
                raise InputError(path, "a comment after the words of a sentence", line=number, fix=fix)
            comments.append(line)
            continue
        fields = line.split("\t")
        if len(fields) != len(Row._fields):
            raise InputError(path, f"{len(fields)} columns where CoNLL-U has {len(Row._fields)}", line=number)
        if not all(fields):
            raise InputError(path, "an empty field", line=number, fix="CoNLL-U writes _ for nothing")
        rows.append(Row(*fields))
    if not rows:
        raise InputError(path, "comments without words", line=block[0][0])
    return Tree(tuple(comments), tuple(rows), block[0][0])


def _check_ids(path: Path, tree: Tree) -> int:
    """Check that words count from 1, with multiword tokens and empty nodes in their places; return how many words."""
    words, covered, empty = 0, 0, 0
    for line, row in tree.numbered_rows():
        if row.id == str(words + 1):
            words, empty = words + 1, 0
        elif (match := MULTIWORD.fullmatch(row.id)) and int(match[1]) == words + 1 > covered and int(match[2]) > words:
            covered = int(match[2])
        elif (match := EMPTY.fullmatch(row.id)) and (int(match[1]), int(match[2])) == (words, empty + 1):
            empty += 1
        else:
            raise InputError(path, f"row number {row.id!r} does not follow word {words}", line=line)
    if covered > words:
        raise InputError(path, f"a multiword token reaches word {covered} of {words}", line=tree.line)
    return words


def _check_tree(path: Path, tree: Tree, length: int) -> None:
    """Refuse a sentence whose parts of speech or heads do not make one tree."""
    for line, row in tree.numbered_words:
        if row.upos not in UPOS:
            raise InputError(path, f"part of speech {row.upos!r} is not one of the universal 17", line=line)
        if not row.head.isascii() or not row.head.isdigit() or int(row.head) > length:
            raise InputError(path, f"head {row.head!r} of word {row.id} is not in 0 to {length}", line=line)
        if not universal(row.deprel) or row.deprel == "_":
            raise InputError(path, f"word {row.id} has no relation to its head", line=line)
    roots = [(line, row.id) for line, row in tree.numbered_words if row.head == "0"]
    if len(roots) != 1:
        found = ", ".join(number for _, number in roots) or "none"
        where = roots[1][0] if roots else tree.line
        raise InputError(path, f"a tree has exactly one root (found: {found})", line=where)
    if on_cycle := find_cycle(tree.heads):
        raise InputError(path, f"word {on_cycle} is its own ancestor", line=tree.numbered_words[on_cycle - 1][0])
