"""LAS and UAS against a straightforward count over CoNLL-U rows, on real treebanks with perturbed trees."""

from pathlib import Path

import numpy as np
import pytest

from xling.data.conllu import read_conllu, universal
from xling.finetune.data import Example
from xling.finetune.metrics import ATTACHMENT_SCORES
from xling.finetune.parsing import NUMBERS, PARTS, RELATIONS, Parsing
from xling.finetune.settings import BiaffineSizes
from xling.finetune.task import count_items, score

TREEBANKS = ("UD_English-EWT/en_ewt", "UD_French-GSD/fr_gsd", "UD_Russian-GSD/ru_gsd", "UD_Chinese-GSD/zh_gsd")


def example(labels: np.ndarray) -> Example:
    nothing = np.zeros(labels.shape[1], np.int32)
    return Example((nothing,), nothing, nothing, labels)


@pytest.mark.real_data
@pytest.mark.parametrize("name", TREEBANKS)
def test_scores_equal_a_plain_count_on_perturbed_real_trees(name: str, real_data: Path) -> None:
    rng = np.random.default_rng(0)
    examples, predictions = [], []
    total = right_heads = right_labels = 0
    for tree in read_conllu(real_data / "ud" / f"{name}-ud-dev.conllu"):
        words = len(tree.words)
        gold = [NUMBERS[universal(row.deprel)] for row in tree.word_rows]
        guess_heads = [head if rng.random() < 0.7 else int(rng.integers(words + 1)) for head in tree.heads]
        guess_labels = [label if rng.random() < 0.8 else int(rng.integers(len(RELATIONS))) for label in gold]
        examples.append(example(np.array([tree.heads, gold, [PARTS[part] for part in tree.upos]])))
        predictions.append(np.array([guess_heads, guess_labels]))
        for row, head, label in zip(tree.word_rows, guess_heads, guess_labels, strict=True):
            if row.upos == "PUNCT" or row.upos == "SYM":
                continue
            total += 1
            if str(head) == row.head:
                right_heads += 1
                if RELATIONS[label] == row.deprel.split(":")[0]:
                    right_labels += 1
    task = Parsing(BiaffineSizes(1, 1, 0.0, 0.0))
    found = score(task, count_items(task, examples, predictions))
    assert found == {"las": pytest.approx(100 * right_labels / total), "uas": pytest.approx(100 * right_heads / total)}
    assert total > 1000
    assert list(ATTACHMENT_SCORES) == ["las", "uas"]
