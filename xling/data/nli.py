"""Natural language inference: XNLI 1.0, the English training set in XNLI-MT 1.0, MultiNLI (section 3.2 of the paper).

Training rows with an empty sentence are skipped and counted; an empty sentence in an evaluation row is an error.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from xling.core.errors import InputError
from xling.data.lines import filled_lines, table_rows

LABELS = ("entailment", "neutral", "contradiction")
OTHER_NAMES = {"contradictory": "contradiction"}  # of XNLI-MT
UNDECIDED = "-"  # the annotators did not agree


class NliExample(NamedTuple):
    """Two sentences, whether the second follows from the first, and the line they stand on."""

    premise: str
    hypothesis: str
    label: str
    line: int


def read_xnli(path: Path, language: str, counts: Counter[str] | None = None) -> Iterator[NliExample]:
    """Yield the rows of one language of xnli.dev.tsv or xnli.test.tsv; rows without a gold label count as undecided."""
    seen: dict[str, None] = {}  # a dict keeps the order in which languages appear
    for line, (code, label, *sentences) in table_rows(path, ("language", "gold_label", "sentence1", "sentence2")):
        seen[code] = None
        if code == language:
            for example in _checked(path, line, [*sentences, label], counts):
                if not _complete(example):
                    raise InputError(path, "a sentence is empty", line=line, fix="evaluation rows are never left out")
                yield example
    if language not in seen:
        raise InputError(path, f"no rows of language {language!r} (has: {', '.join(seen) or 'none'})")


def read_xnli_mt(path: Path, counts: Counter[str] | None = None) -> Iterator[NliExample]:
    """Yield the rows of multinli.train.en.tsv (premise, hypo, label) of XNLI-MT 1.0."""
    return _training(path, table_rows(path, ("premise", "hypo", "label")), counts)


def read_multinli(path: Path, counts: Counter[str] | None = None) -> Iterator[NliExample]:
    """Yield the rows of multinli_1.0_*.jsonl as first published."""
    return _training(path, _json_rows(path), counts)


def _json_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    names = ("sentence1", "sentence2", "gold_label")
    for line, text in filled_lines(path, "JSON lines were"):
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(path, f"not JSON: {error.msg}", line=line) from None
        if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in names):
            raise InputError(path, f"expected an object with the texts {', '.join(names)}", line=line)
        yield line, [value[name] for name in names]


def _training(path: Path, rows: Iterator[tuple[int, list[str]]], counts: Counter[str] | None) -> Iterator[NliExample]:
    for line, row in rows:
        for example in _checked(path, line, row, counts):
            if _complete(example):
                yield example
            elif counts is not None:
                counts["empty"] += 1


def _checked(path: Path, line: int, row: list[str], counts: Counter[str] | None) -> Iterator[NliExample]:
    """Yield the example of a row (premise, hypothesis, label), or nothing where it has no gold label."""
    premise, hypothesis, label = row
    if label == UNDECIDED:
        if counts is not None:
            counts["undecided"] += 1
        return
    name = OTHER_NAMES.get(label, label)
    if name not in LABELS:
        raise InputError(path, f"label {label!r} is none of {', '.join(LABELS)}", line=line)
    yield NliExample(premise, hypothesis, name, line)


def _complete(example: NliExample) -> bool:
    return bool(example.premise.strip() and example.hypothesis.strip())
