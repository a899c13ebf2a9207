"""Losses, predictions, trees and scores against numbers worked out by hand or by other programs."""

import math
from typing import get_args

import networkx
import numpy as np
import pytest
import torch
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities
from torch.nn import functional

from xling.core.tasks import TASKS, TaskName
from xling.data.tasks import UPOS
from xling.finetune.data import Example, Layout
from xling.finetune.metrics import MEASURES, SPAN_SCORES, count_spans, select, spans
from xling.finetune.parsing import NUMBERS, PARTS, RELATIONS, ROOT, SLOPE, Biaffine, best_tree, drop_alike
from xling.finetune.settings import BiaffineSizes
from xling.finetune.tasks import TAGS, Ner, Parsing, Xnli, count_items, make_task, score
from xling.finetune.tuner import initialise_head
from xling.tokenization.prepare_task import READERS

SIZES = BiaffineSizes(arc=5, label=3, dropout=0.33, input_dropout=0.2)
DET, OBJ = NUMBERS["det"], NUMBERS["obj"]


def item(windows, rows, places, labels):
    made = tuple(np.array(window, dtype=np.int32) for window in windows)
    return Example(made, np.array(rows, dtype=np.int32), np.array(places, dtype=np.int32), np.array(labels))


def tensors(arrays):
    return [torch.from_numpy(array) for array in arrays]


def drawn(shape):
    return torch.from_numpy(np.random.default_rng(math.prod(shape)).normal(size=shape))


def test_every_stage_knows_every_task():
    assert list(TASKS) == list(get_args(TaskName)), "xling/core/tasks.py"
    assert list(MEASURES) == list(TASKS), "xling/finetune/metrics.py"
    assert [make_task(name, SIZES).name for name in TASKS] == list(TASKS)
    assert set(READERS) == {task.data for task in TASKS.values()}, "xling/tokenization/prepare_task.py"


def with_weights(head):
    for parameter in head.double().eval().requires_grad_(False).parameters():
        parameter.copy_(drawn(parameter.shape))
    return head


def cross_entropy(scores, label):
    return math.log(np.exp(scores).sum()) - scores[label]


SHORT = item([[2, 5, 2]], [0], [0], [1])
LONG_PAIR = item([[2, 5, 2]] * 3, [0, 1, 2], [0, 0, 0], [0])
LONG_SENTENCE = item([[2, 5, 6, 7, 2], [2, 8, 2]], [0, 0, 1], [1, 3, 1], [0, 1, 2])  # three words in two windows


def checked(task, head, states, layout, expected):
    """Check the loss of a batch, and return the predictions."""
    places, gold = tensors(task.places(layout)), tensors(task.gold(layout))
    assert float(task.loss(head, states, places, gold)) == pytest.approx(expected, abs=1e-9)
    return task.read([output.numpy() for output in task.predict(head, states, places)], layout)


@pytest.mark.parametrize("rounding", [1, 8])  # padding of a batch changes nothing
@pytest.mark.parametrize(
    ("task", "examples", "judged"),
    [
        (Xnli(), [SHORT, item([[2, 5, 2, 2]], [0], [0], [2])], lambda s: [s[0, 0], s[1, 0]]),
        (Xnli(), [LONG_PAIR, SHORT], lambda s: [s[:3, 0].mean(dim=0), s[3, 0]]),  # several windows by their mean
        (Ner(), [item([[2, 5, 6, 2]], [0], [1], [4]), LONG_SENTENCE], lambda s: [s[0, 1], s[1, 1], s[1, 3], s[2, 1]]),
    ],
)
def test_a_linear_layer_judges_first_tokens_or_first_subwords(rounding, task, examples, judged):
    layout = Layout(examples, rounding, 9)
    head, states = with_weights(task.head(4)), drawn((*layout.tokens.shape, 4))
    scores = head(torch.stack(judged(states))).numpy()
    gold = np.concatenate([example.labels for example in examples])
    losses = [cross_entropy(row, label) for row, label in zip(scores, gold, strict=True)]
    read = checked(task, head, states, layout, np.mean(losses))
    assert [len(one) for one in read] == [len(example.labels) for example in examples]
    assert np.concatenate(read).tolist() == scores.argmax(axis=1).tolist()


@pytest.mark.parametrize("rounding", [1, 8])
def test_parsing_equals_biaffine_forms_pair_by_pair(rounding):
    """The loss is that of heads plus that of relations, and predictions are the best tree and its best relations."""
    task = Parsing(SIZES)
    trees = [[[0], [ROOT], [1]], [[2, 0], [OBJ, ROOT], [1, 1]]]
    examples = [item([[2, 5, 2]], [0], [1], trees[0]), item([[2, 5, 6, 2], [2, 7, 2]], [0, 1], [2, 1], trees[1])]
    # The root and the words; the second sentence has two windows.
    places = [[(0, 0), (0, 1)], [(1, 0), (1, 2), (2, 1)]]
    layout, head, one = Layout(examples, rounding, 9), with_weights(task.head(4)), torch.ones(1, dtype=torch.double)
    states, losses, forms = drawn((*layout.tokens.shape, 4)), [], []
    reduced = functional.leaky_relu(states @ head.hidden.weight.T + head.hidden.bias, SLOPE)
    for own, (heads, relations, _) in zip(places, trees, strict=True):
        arcs, labels = np.zeros((len(heads), len(heads) + 1)), {}
        for word, top in np.ndindex(arcs.shape):
            dep, above = reduced[own[word + 1]], reduced[own[top]]
            left, low, high = (torch.cat([part, one]) for part in (dep[:5], dep[10:13], above[13:16]))
            arcs[word, top] = left @ head.arc @ above[5:10]
            labels[word, top] = np.array([low @ form @ high for form in head.label])
        for word, (top, relation) in enumerate(zip(heads, relations, strict=True)):
            losses.append(cross_entropy(arcs[word], top) + cross_entropy(labels[word, top], relation))
        forms.append((arcs, labels))
    read = checked(task, head, states, layout, np.mean(losses))
    for (heads, relations), (arcs, labels) in zip(read, forms, strict=True):
        assert heads.tolist() == best_tree(arcs).tolist()
        for word, top in enumerate(heads):
            labels[word, top][ROOT] = math.inf if top == 0 else -math.inf  # only the root is called root
        assert relations.tolist() == [labels[word, top].argmax() for word, top in enumerate(heads)]


@pytest.mark.parametrize(
    ("task", "train", "test", "found"),
    [
        (Xnli(), [[0], [2], [2], [1]], [[2], [2], [0]], {"accuracy": pytest.approx(200 / 3)}),
        (Ner(), [[0, 1], [0]], [[0, 1], [0]], {"f1": 0.0, "precision": 0.0, "recall": 0.0}),
        *(
            (Parsing(SIZES), [tree], [tree], {"las": 100.0, "uas": 100.0})
            for tree in ([[2, 3, 0], [DET, DET, ROOT], [1, 1, 1]], [[0, 1, 2], [ROOT, DET, DET], [1, 1, 1]])
        ),
    ],
)
def test_baselines_know_the_training_labels_only(task, train, test, found):
    def made(labels):
        words = np.array(labels).shape[-1]
        return item([[2] * (words + 2)], [0] * words, list(range(1, words + 1)), labels)

    guess, items = task.guess([made(labels) for labels in train]), [made(labels) for labels in test]
    assert score(task, count_items(task, items, [guess(one) for one in items])) == found


def test_linear_layers_are_drawn_and_forms_start_at_zero():
    made, other = (Biaffine(400, SIZES, 4) for _ in range(2))
    for seed, head in enumerate((made, other)):
        initialise_head(head, seed)
    weight = made.hidden.weight.detach()
    assert float(weight.abs().max()) <= 1 / 20
    assert float(weight.std()) == pytest.approx(1 / 20 / math.sqrt(3), rel=0.05)
    assert not any(parameter.any() for parameter in (made.hidden.bias, made.arc, made.label))
    assert not torch.equal(other.hidden.weight, made.hidden.weight)


def test_dropout_drops_the_same_features_of_all_words():
    dropped = drop_alike(torch.ones(3, 5, 200), 0.33, training=True)
    assert bool((dropped == dropped[:, :1]).all())
    assert set(dropped.unique().tolist()) == {0.0, torch.tensor(1 / 0.67).item()}
    assert 0.2 < (dropped == 0).float().mean() < 0.5
    assert not bool((dropped[0] == dropped[1]).all())
    assert bool((drop_alike(dropped, 0.33, training=False) == dropped).all())


def best_total_by_networkx(scores):
    """Try each word as the only child of the root and span the other words from it."""
    words, found = len(scores), []
    for root in range(words):
        pairs = [(head, word) for word in range(words) for head in range(words) if word not in (root, head)]
        graph = networkx.DiGraph()
        graph.add_node(root)
        graph.add_weighted_edges_from((head, word, float(scores[word, head + 1])) for head, word in pairs)
        tree = networkx.maximum_spanning_arborescence(graph) if words > 1 else graph
        found.append(scores[root, 0] + sum(weight for _, _, weight in tree.edges.data("weight")))
    return max(found)


def test_trees_have_one_root_and_the_total_that_networkx_finds():
    rng = np.random.default_rng(5)
    for number in range(160):
        words = 40 if number % 8 == 0 else 7 if number % 50 == 0 else int(rng.integers(1, 5))
        scores = rng.random((words, words + 1)) * (1e-3, 1.0, 1e4)[number % 3] + 0.1
        if number % 2:
            scores[:, 0] += 1.0  # many words would like to be the root
        if number % 5 == 0:
            scores = scores.round()  # ties
        heads = best_tree(scores)
        assert (heads == 0).sum() == 1
        graph = networkx.DiGraph((int(head), word) for word, head in enumerate(heads, start=1))
        assert networkx.is_arborescence(graph)  # every word reaches the root
        if words < 40:
            total = scores[np.arange(words), heads].sum()
            assert total == pytest.approx(best_total_by_networkx(scores), rel=1e-9)


def repair(tags):
    """Valid BIO of the same spans."""
    mended = list(tags)
    for kind, start, end in spans(tags):
        mended[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return mended


def test_spans_and_their_scores_equal_seqeval_on_repaired_sequences():
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


def test_attachment_scores_equal_a_plain_count():
    rng = np.random.default_rng(0)
    examples, predictions, right = [], [], []
    for words in rng.integers(1, 30, 200):
        gold, parts = rng.integers([words + 1, len(RELATIONS)], size=(words, 2)), rng.choice(sorted(UPOS), words)
        found = np.where(rng.random((words, 2)) < 0.7, gold, 0)
        examples.append(item([[2] * words], [0] * words, range(words), [*gold.T, [PARTS[part] for part in parts]]))
        predictions.append(found.T)
        right += [
            (same.all(), same[0])
            for same, part in zip(gold == found, parts, strict=True)
            if part not in ("PUNCT", "SYM")
        ]
    las, uas = 100 * np.mean(right, axis=0)
    found = score(Parsing(SIZES), count_items(Parsing(SIZES), examples, predictions))
    assert found == pytest.approx({"las": las, "uas": uas})


def test_the_best_points_by_dev_are_chosen():
    assert select([1.0, 3.0, 2.5, 3.0], 2) == [1, 3]  # of equals the lower number
    assert select([0.0, 0.0, 1.0], 2) == [2, 0]
