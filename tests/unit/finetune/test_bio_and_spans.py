import warnings

import numpy as np
import pytest
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities

from xling.finetune.bio import repair, spans
from xling.finetune.metrics import SPAN_SCORES, count_spans

TYPES = ("LOC", "MISC", "ORG", "PER")


def random_tags(rng: np.random.Generator) -> list[str]:
    """Valid BIO: every span begins with B- and keeps its type."""
    tags: list[str] = []
    for _ in range(rng.integers(1, 6)):
        kind = TYPES[rng.integers(4)]
        tags += ["O"] if rng.random() < 0.5 else [f"B-{kind}", *[f"I-{kind}"] * rng.integers(4)]
    return tags


def shaken(tags: list[str], rng: np.random.Generator) -> list[str]:
    """Another valid sequence of the same length that has spans in common with this one."""
    kept = list(tags)
    for kind, start, end in spans(tags):
        draw = rng.random()
        if draw < 0.2:
            kept[start:end] = ["O"] * (end - start)
        elif draw < 0.4:
            kept[start:end] = [tag.replace(kind, TYPES[rng.integers(4)]) for tag in kept[start:end]]
            kept[start:end] = repair(kept[start:end])
        elif draw < 0.5:
            kept[end - 1] = f"B-{kind}"
    return kept


def test_span_scores_equal_seqeval_on_ten_thousand_valid_sequences() -> None:
    rng = np.random.default_rng(1)
    gold = [random_tags(rng) for _ in range(10_000)]
    found = [shaken(tags, rng) for tags in gold]
    assert all(repair(tags) == tags for tags in found)
    counts = np.array([count_spans(one, other) for one, other in zip(gold, found, strict=True)]).sum(axis=0)
    for name, measure in (("f1", f1_score), ("precision", precision_score), ("recall", recall_score)):
        assert float(SPAN_SCORES[name](counts)) == pytest.approx(100 * measure(gold, found), abs=1e-9)
    assert 20 < float(SPAN_SCORES["f1"](counts)) < 95  # neither all right nor all wrong


def test_spans_equal_seqeval_on_valid_sequences() -> None:
    rng = np.random.default_rng(2)
    for tags in (random_tags(rng) for _ in range(1000)):
        assert spans(tags) == [(kind, start, last + 1) for kind, start, last in get_entities(tags)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("B-X I-Y I-Z", "B-Z I-Z I-Z"),  # the example of the paper's rule
        ("I-X", "B-X"),
        ("O I-X O", "O B-X O"),
        ("O I-X I-Y O B-Z", "O B-Y I-Y O B-Z"),
        ("B-X B-Y I-X", "B-X B-X I-X"),
        ("B-X O I-X", "B-X O B-X"),
        ("O O", "O O"),
    ],
)
def test_repair_follows_the_rule(given: str, expected: str) -> None:
    assert " ".join(repair(given.split())) == expected


def rule_by_rule(tags: list[str]) -> list[str]:
    """The same rule written as it is said: mend beginnings, then walk each span backwards."""
    mended = list(tags)
    for i, tag in enumerate(mended):
        if tag.startswith("I-") and (i == 0 or mended[i - 1] == "O"):
            mended[i] = "B-" + tag[2:]
    for i in reversed(range(len(mended) - 1)):
        if mended[i + 1].startswith("I-"):
            mended[i] = mended[i][:2] + mended[i + 1][2:]
    return mended


def test_repaired_sequences_are_valid_and_score_as_seqeval_says() -> None:
    rng = np.random.default_rng(3)
    labels = ["O", *(f"{mark}-{kind}" for kind in TYPES for mark in "BI")]
    raw = [[labels[i] for i in rng.integers(len(labels), size=rng.integers(1, 9))] for _ in range(3000)]
    gold = [repair([labels[i] for i in rng.integers(len(labels), size=len(tags))]) for tags in raw]
    mended = [repair(tags) for tags in raw]
    assert mended == [rule_by_rule(tags) for tags in raw]
    counts = np.array([count_spans(one, other) for one, other in zip(gold, raw, strict=True)]).sum(axis=0)
    assert float(SPAN_SCORES["f1"](counts)) == pytest.approx(100 * f1_score(gold, mended), abs=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert float(SPAN_SCORES["f1"](counts)) != pytest.approx(100 * f1_score(gold, raw), abs=1e-6)


def test_no_span_anywhere_scores_zero() -> None:
    assert float(SPAN_SCORES["f1"](np.array(count_spans(["O"], ["O"])))) == 0.0
