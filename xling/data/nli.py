"""Natural language inference: XNLI 1.0, the English training set in XNLI-MT 1.0, MultiNLI (section 3.2 of the paper).

Training rows with an empty sentence are left out and counted; evaluation rows never are, an empty one is an error.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xling.core.errors import InputError
from xling.core.io import numbered_lines
from xling.data.lines import table_rows

LABELS = ("entailment", "neutral", "contradiction")
OTHER_NAMES = {"contradictory": "contradiction"}  # XNLI-MT says it so
UNDECIDED = "-"  # the annotators did not agree


@dataclass(frozen=True, slots=True)
class NliExample:
    """Two sentences, whether the second follows from the first, and the line they stand on."""

    premise: str
    hypothesis: str
    label: str
    line: int


def read_xnli(path: Path, language: str, counts: Counter[str] | None = None) -> Iterator[NliExample]:
    """Yield one language's rows of xnli.dev.tsv or xnli.test.tsv; those without a gold label count as undecided."""
    seen: dict[str, None] = {}  # a dict keeps the order in which languages appear
    for line, row in table_rows(path, ("language", "gold_label", "sentence1", "sentence2")):
        seen[row[0]] = None
        if row[0] != language:
            continue
        example = _example(path, line, row[2], row[3], row[1], counts)
        if example and not _complete(example):
            raise InputError(path, "a sentence is empty", line=line, fix="evaluation rows are never left out")
        if example:
            yield example
    if language not in seen:
        raise InputError(path, f"no rows of language {language!r} (has: {', '.join(seen) or 'none'})")


def read_xnli_mt(path: Path, counts: Counter[str] | None = None) -> Iterator[NliExample]:
    """Yield the rows of multinli.train.en.tsv (premise, hypo, label) of XNLI-MT 1.0."""
    for line, row in table_rows(path, ("premise", "hypo", "label")):
        yield from _training_example(path, line, row, counts)


def read_multinli(path: Path, counts: Counter[str] | None = None) -> Iterator[NliExample]:
    """Yield the rows of multinli_1.0_*.jsonl as first published."""
    line = 0
    for line, text in numbered_lines(path):
        yield from _training_example(path, line, _json_row(path, line, text), counts)
    if line == 0:
        raise InputError(path, "empty where JSON lines were expected", fix="fetch or make the file again")


def _json_row(path: Path, line: int, text: str) -> list[str]:
    names = ("sentence1", "sentence2", "gold_label")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(path, f"not JSON: {error.msg}", line=line) from None
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in names):
        raise InputError(path, f"expected an object with the texts {', '.join(names)}", line=line)
    return [value[name] for name in names]


def _training_example(path: Path, line: int, row: list[str], counts: Counter[str] | None) -> Iterator[NliExample]:
    example = _example(path, line, row[0], row[1], row[2], counts)
    if example and _complete(example):
        yield example
    elif example and counts is not None:
        counts["empty"] += 1


def _example(
    path: Path, line: int, premise: str, hypothesis: str, label: str, counts: Counter[str] | None
) -> NliExample | None:
    """Check the label, and return nothing for a row that has none."""
    if label == UNDECIDED:
        if counts is not None:
            counts["undecided"] += 1
        return None
    name = OTHER_NAMES.get(label, label)
    if name not in LABELS:
        raise InputError(path, f"label {label!r} is none of {', '.join(LABELS)}", line=line)
    return NliExample(premise, hypothesis, name, line)


def _complete(example: NliExample) -> bool:
    return bool(example.premise.strip() and example.hypothesis.strip())
