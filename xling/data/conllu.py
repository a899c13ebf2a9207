"""CoNLL-U treebanks (section 3.2 of the paper), read so that nothing of a file is lost.

The gold words of parsing are the rows with a plain number; multiword tokens (`3-4`) and empty nodes (`8.1`) are
kept beside them. Our own parser, because the common library rewrites features and comments.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from xling.core.errors import InputError
from xling.data.lines import NumberedLine, blocks

COLUMNS = 10
UPOS = frozenset(  # the 17 of Universal Dependencies v2
    [
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
        *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
    ]
)
WORD, MULTIWORD, EMPTY = re.compile(r"[1-9]\d*"), re.compile(r"([1-9]\d*)-([1-9]\d*)"), re.compile(r"(\d+)\.([1-9]\d*)")


@dataclass(frozen=True, slots=True)
class Row:
    """The ten fields of one line, as they stand in the file."""

    id: str
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: str
    deprel: str
    deps: str
    misc: str


@dataclass(frozen=True)
class Tree:
    """One sentence: its comments, all its rows, and the line of its first comment or row."""

    comments: tuple[str, ...]
    rows: tuple[Row, ...]
    line: int

    @cached_property
    def word_rows(self) -> tuple[Row, ...]:
        """Return the rows of syntactic words."""
        return tuple(row for row in self.rows if WORD.fullmatch(row.id))

    @property
    def words(self) -> tuple[str, ...]:
        """Return the forms of the syntactic words."""
        return tuple(row.form for row in self.word_rows)

    @property
    def heads(self) -> tuple[int, ...]:
        """Return the head of each word, counted from 1, 0 for the root."""
        return tuple(int(row.head) for row in self.word_rows)

    @property
    def deprels(self) -> tuple[str, ...]:
        """Return the relation of each word to its head, with its subtype."""
        return tuple(row.deprel for row in self.word_rows)

    @property
    def upos(self) -> tuple[str, ...]:
        """Return the universal part of speech of each word."""
        return tuple(row.upos for row in self.word_rows)


def universal(deprel: str) -> str:
    """Return the universal part of a relation: `acl:relcl` is `acl`."""
    return deprel.partition(":")[0]


def read_conllu(path: Path) -> Iterator[Tree]:
    """Yield the checked sentences of a CoNLL-U file."""
    for block in blocks(path):
        tree = _parse(path, block)
        check_tree(path, tree)
        yield tree


def check_tree(path: Path, tree: Tree) -> None:
    """Refuse a sentence whose numbers, parts of speech or heads do not make one tree."""
    length = _check_ids(path, tree)
    for line, row in _numbered_words(tree):
        if row.upos not in UPOS:
            raise InputError(path, f"part of speech {row.upos!r} is not one of the universal 17", line=line)
        if not row.head.isascii() or not row.head.isdigit() or int(row.head) > length:
            raise InputError(path, f"head {row.head!r} of word {row.id} is not in 0 to {length}", line=line)
        if not universal(row.deprel) or row.deprel == "_":
            raise InputError(path, f"word {row.id} has no relation to its head", line=line)
    roots = [(line, row.id) for line, row in _numbered_words(tree) if row.head == "0"]
    if len(roots) != 1:
        found = ", ".join(number for _, number in roots) or "none"
        raise InputError(
            path, f"a tree has exactly one root (found: {found})", line=roots[1][0] if roots else tree.line
        )
    on_cycle = find_cycle(tree.heads)
    if on_cycle:
        line = next(line for line, row in _numbered_words(tree) if row.id == str(on_cycle))
        raise InputError(path, f"word {on_cycle} is its own ancestor", line=line)


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
                raise InputError(
                    path, "a comment after the words of a sentence", line=number, fix="is a blank line missing?"
                )
            comments.append(line)
            continue
        fields = line.split("\t")
        if len(fields) != COLUMNS:
            raise InputError(path, f"{len(fields)} columns where CoNLL-U has {COLUMNS}", line=number)
        if not all(fields):
            raise InputError(path, "an empty field", line=number, fix="CoNLL-U writes _ for nothing")
        rows.append(Row(*fields))
    if not rows:
        raise InputError(path, "comments without words", line=block[0][0])
    return Tree(tuple(comments), tuple(rows), block[0][0])


def _check_ids(path: Path, tree: Tree) -> int:
    """Check that words count from 1 and that multiword tokens and empty nodes stand where they may; count the words."""
    words, covered, empty = 0, 0, 0
    for line, row in _numbered_rows(tree):
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


def _numbered_rows(tree: Tree) -> Iterator[tuple[int, Row]]:
    return enumerate(tree.rows, start=tree.line + len(tree.comments))


def _numbered_words(tree: Tree) -> Iterator[tuple[int, Row]]:
    return ((line, row) for line, row in _numbered_rows(tree) if WORD.fullmatch(row.id))
