"""Scores against other programs' on the same items: seqeval for entities, a plain count for trees."""

import numpy as np
import pytest
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities

from xling.data.tasks import UPOS
from xling.finetune.data import Example
from xling.finetune.metrics import SPAN_SCORES, count_spans, select, spans
from xling.finetune.parsing import PARTS, RELATIONS
from xling.finetune.settings import BiaffineSizes
from xling.finetune.tasks import Parsing, count_items, score

TAGS = ["O", *(f"{mark}-{kind}" for kind in ("LOC", "MISC", "ORG", "PER") for mark in "BI")]


def repair(tags: list[str]) -> list[str]:
    """Valid BIO of the same spans."""
    mended = list(tags)
    for kind, start, end in spans(tags):
        mended[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return mended


def test_spans_and_their_scores_equal_seqeval_on_repaired_sequences() -> None:
    rng = np.random.default_rng(3)
    gold = [repair(rng.choice(TAGS, rng.integers(1, 9)).tolist()) for _ in range(1000)]
    raw = [[tag if rng.random() < 0.8 else str(rng.choice(TAGS)) for tag in tags] for tags in gold]
    mended = [repair(tags) for tags in raw]
    assert repair(["B-X", "I-Y", "I-Z"]) == ["B-Z", "I-Z", "I-Z"]  # the example of the paper's rule
    assert repair(["I-X", "O", "I-Y", "B-Y", "I-X"]) == ["B-X", "O", "B-Y", "B-X", "I-X"]
    assert [spans(tags) for tags in raw] == [[(k, i, j + 1) for k, i, j in get_entities(tags)] for tags in mended]
    counts = np.array([count_spans(one, other) for one, other in zip(gold, raw, strict=True)]).sum(axis=0)
    for name, measure in (("f1", f1_score), ("precision", precision_score), ("recall", recall_score)):
        assert float(SPAN_SCORES[name](counts)) == pytest.approx(100 * measure(gold, mended), abs=1e-9)
    assert 20 < float(SPAN_SCORES["f1"](counts)) < 95  # neither all right nor all wrong
    assert float(SPAN_SCORES["f1"](np.array(count_spans(["O"], ["O"])))) == 0.0


def test_attachment_scores_equal_a_plain_count() -> None:
    rng = np.random.default_rng(0)
    examples, predictions, right = [], [], []
    for words in rng.integers(1, 30, 200):
        nothing, parts = np.zeros(words, np.int32), rng.choice(sorted(UPOS), words)
        gold = np.stack([rng.integers(words + 1, size=words), rng.integers(len(RELATIONS), size=words)])
        found = np.where(rng.random((2, words)) < 0.7, gold, 0)
        examples.append(Example((nothing,), nothing, nothing, np.array([*gold, [PARTS[part] for part in parts]])))
        predictions.append(found)
        rows = zip(parts, *gold, *found, strict=True)
        right += [(a == c, a == c and b == d) for part, a, b, c, d in rows if part not in ("PUNCT", "SYM")]
    task = Parsing(BiaffineSizes(1, 1, 0.0, 0.0))
    uas, las = 100 * np.mean(right, axis=0)
    assert score(task, count_items(task, examples, predictions)) == {
        "las": pytest.approx(las),
        "uas": pytest.approx(uas),
    }


def test_the_best_points_by_dev_are_chosen() -> None:
    assert select([1.0, 3.0, 2.5, 3.0], 2) == [1, 3]  # of equals the lower number
    assert select([0.0, 0.0, 1.0], 2) == [2, 0]
