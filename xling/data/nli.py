"""Natural language inference: XNLI 1.0 and the English training set in XNLI-MT 1.0 (section 3.2 of the paper).

Training rows with an empty sentence are skipped and counted; an empty sentence in an evaluation row is an error.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from xling.core.errors import InputError
from xling.data.lines import Record, table_rows

LABELS = ("entailment", "neutral", "contradiction")
OTHER_NAMES = {"contradictory": "contradiction"}  # label names in XNLI-MT
UNDECIDED = "-"  # the annotators did not agree


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
    if name not in LABELS:
        raise InputError(path, f"label {label!r} is none of {', '.join(LABELS)}", line=line)
    return {"premise": premise, "hypothesis": hypothesis, "label": name}


def _whole(example: Record) -> bool:
    return bool(example["premise"].strip() and example["hypothesis"].strip())
