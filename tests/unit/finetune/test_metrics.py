"""Scores against other programs' on the same items: seqeval for entities, a plain count over CoNLL-U rows for trees."""

from pathlib import Path

import numpy as np
import pytest
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities

from xling.data.conllu import read_conllu, universal
from xling.finetune.data import Example
from xling.finetune.metrics import SPAN_SCORES, count_spans, select, spans
from xling.finetune.parsing import NUMBERS, PARTS, RELATIONS
from xling.finetune.settings import BiaffineSizes
from xling.finetune.tasks import Parsing, count_items, score

TAGS = ["O", *(f"{mark}-{kind}" for kind in ("LOC", "MISC", "ORG", "PER") for mark in "BI")]
TREEBANKS = ("UD_French-GSD/fr_gsd", "UD_Chinese-GSD/zh_gsd")


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


@pytest.mark.real_data
@pytest.mark.parametrize("name", TREEBANKS)
def test_attachment_scores_equal_a_plain_count_on_perturbed_real_trees(name: str, real_data: Path) -> None:
    rng = np.random.default_rng(0)
    examples, predictions = [], []
    total = right_heads = right_labels = 0
    for tree in read_conllu(real_data / "ud" / f"{name}-ud-dev.conllu"):
        words, nothing = len(tree.words), np.zeros(len(tree.words), np.int32)
        gold = [NUMBERS[universal(deprel)] for deprel in tree.deprels]
        heads = [head if rng.random() < 0.7 else int(rng.integers(words + 1)) for head in tree.heads]
        labels = [label if rng.random() < 0.8 else int(rng.integers(len(RELATIONS))) for label in gold]
        rows = np.array([tree.heads, gold, [PARTS[part] for part in tree.upos]])
        examples.append(Example((nothing,), nothing, nothing, rows))
        predictions.append(np.array([heads, labels]))
        for upos, deprel, right, head, label in zip(tree.upos, tree.deprels, tree.heads, heads, labels, strict=True):
            if upos not in ("PUNCT", "SYM"):
                total += 1
                right_heads += head == right
                right_labels += head == right and RELATIONS[label] == deprel.split(":")[0]
    task = Parsing(BiaffineSizes(1, 1, 0.0, 0.0))
    found = score(task, count_items(task, examples, predictions))
    assert found == {"las": pytest.approx(100 * right_labels / total), "uas": pytest.approx(100 * right_heads / total)}
    assert total > 1000


def test_the_best_points_by_dev_are_chosen() -> None:
    assert select([1.0, 3.0, 2.5, 3.0], 2) == [1, 3]  # of equals the lower number
    assert select([0.0, 0.0, 1.0], 2) == [2, 0]
