"""Losses and predictions against numbers worked out by hand."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from xling.finetune.batches import Layout
from xling.finetune.data import Example
from xling.finetune.ner import TAGS, Ner
from xling.finetune.parsing import NUMBERS, ROOT, Parsing
from xling.finetune.pos import Pos
from xling.finetune.settings import BiaffineSizes
from xling.finetune.task import Task, count_items, score
from xling.finetune.xnli import Xnli


def item(windows: list[list[int]], rows: list[int], places: list[int], labels: list[object]) -> Example:
    made = tuple(np.array(window, dtype=np.int32) for window in windows)
    return Example(made, np.array(rows, dtype=np.int32), np.array(places, dtype=np.int32), np.array(labels))


def tensors(arrays: tuple[np.ndarray, ...]) -> list[Tensor]:
    return [torch.from_numpy(array) for array in arrays]


def loss_of(task: Task, head: nn.Module, states: Tensor, layout: Layout) -> float:
    return float(task.loss(head, states, tensors(task.places(layout)), tensors(task.gold(layout))).detach())


def cross_entropy(scores: np.ndarray, label: int) -> float:
    return math.log(np.exp(scores).sum()) - scores[label]


def test_inference_loss_is_the_cross_entropy_of_the_first_state() -> None:
    task, states = Xnli(), torch.from_numpy(np.random.default_rng(0).normal(size=(2, 4, 3)))
    head = nn.Linear(3, 3).double()
    layout = Layout([item([[2, 5, 2, 2]], [0], [0], [1]), item([[2, 5, 2]], [0], [0], [2])], 1, 9)
    scores = (states[:, 0] @ head.weight.T + head.bias).detach().numpy()
    expected = (cross_entropy(scores[0], 1) + cross_entropy(scores[1], 2)) / 2
    assert loss_of(task, head, states, layout) == pytest.approx(expected, abs=1e-12)
    (found,) = task.predict(head, states, ())
    assert [x.tolist() for x in task.read([found.numpy()], layout)] == [[int(s.argmax())] for s in scores]


def test_a_pair_of_several_windows_is_judged_by_their_mean() -> None:
    task, states = Xnli(), torch.from_numpy(np.random.default_rng(1).normal(size=(4, 3, 3)))
    head = nn.Linear(3, 3).double()
    layout = Layout([item([[2, 5, 2]], [0], [0], [1]), item([[2, 5, 2]] * 3, [0, 1, 2], [0, 0, 0], [0])], 1, 9)
    vectors = np.stack([states[0, 0].numpy(), states[1:, 0].numpy().mean(axis=0)])
    scores = vectors @ head.weight.detach().numpy().T + head.bias.detach().numpy()
    expected = (cross_entropy(scores[0], 1) + cross_entropy(scores[1], 0)) / 2
    assert loss_of(task, head, states, layout) == pytest.approx(expected, abs=1e-12)


def test_entity_loss_counts_first_subwords_alone() -> None:
    task, states = Ner(), torch.from_numpy(np.random.default_rng(2).normal(size=(3, 5, 4)))
    head = nn.Linear(4, len(TAGS)).double()
    long = item([[2, 5, 6, 7, 2], [2, 8, 2]], [0, 0, 1], [1, 3, 1], [0, 1, 2])  # three words in two windows
    layout = Layout([item([[2, 5, 6, 2]], [0], [1], [4]), long], 1, 9)
    scores = (states @ head.weight.T + head.bias).detach().numpy()
    words = [(0, 1, 4), (1, 1, 0), (1, 3, 1), (2, 1, 2)]
    expected = np.mean([cross_entropy(scores[row, place], label) for row, place, label in words])
    assert loss_of(task, head, states, layout) == pytest.approx(float(expected), abs=1e-12)
    (found,) = task.predict(head, states, ())
    read = task.read([found.numpy()], layout)
    assert read[1].tolist() == [int(scores[row, place].argmax()) for row, place, _ in words[1:]]


def parser_states() -> tuple[Parsing, nn.Module, Tensor, Layout]:
    task = Parsing(BiaffineSizes(arc=3, label=2, dropout=0.33, input_dropout=0.2))
    head = task.head(4).double().eval()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.copy_(torch.from_numpy(np.random.default_rng(parameter.numel()).normal(size=parameter.shape)))
    obj, scored = NUMBERS["obj"], [1, 1]
    short = item([[2, 5, 2]], [0], [1], [[0], [ROOT], [1]])
    long = item([[2, 5, 6, 2]], [0, 0], [1, 2], [[2, 0], [obj, ROOT], scored])
    states = torch.from_numpy(np.random.default_rng(3).normal(size=(2, 4, 4)))
    return task, head, states, Layout([short, long], 1, 9)


def test_parsing_loss_is_that_of_heads_plus_that_of_relations() -> None:
    task, head, states, layout = parser_states()
    arc_losses, label_losses = [], []
    for row, places in ((0, [0, 1]), (1, [0, 1, 2])):
        views = head.views(states[row, places][None])
        arcs = head.arcs(*views[:2])[0].detach().numpy()
        labels = head.labels(*views[2:])[0].detach().numpy()
        heads, relations, _ = layout.examples[row].labels
        for word, (top, relation) in enumerate(zip(heads, relations, strict=True)):
            arc_losses.append(cross_entropy(arcs[word], top))
            label_losses.append(cross_entropy(labels[word, top], relation))
    expected = np.mean(arc_losses) + np.mean(label_losses)
    assert loss_of(task, head, states, layout) == pytest.approx(float(expected), abs=1e-9)


def test_trees_are_valid_and_only_the_root_is_called_root() -> None:
    task, head, states, layout = parser_states()
    outputs = task.predict(head, states, tensors(task.places(layout)))
    for tree in task.read([output.detach().numpy() for output in outputs], layout):
        heads, relations = tree
        assert (heads == 0).sum() == 1
        assert ((relations == ROOT) == (heads == 0)).all()


@pytest.mark.parametrize("task", [Xnli(), Ner(), Pos(), Parsing(BiaffineSizes(3, 2, 0.0, 0.0))])
def test_padding_changes_no_loss(task: Task) -> None:
    rng = np.random.default_rng(4)
    labels = {"xnli": [[1], [2]], "parsing": [[[0], [ROOT], [1]], [[0], [ROOT], [1]]]}.get(task.name, [[1], [3]])
    place = 0 if task.name == "xnli" else 1
    examples = [item([[2, 5, 2]], [0], [place], one) for one in labels]
    head = task.head(4).double()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.copy_(torch.from_numpy(rng.normal(size=parameter.shape)))
    states = torch.from_numpy(rng.normal(size=(2, 8, 4)))
    plain, padded = Layout(examples, 1, 9), Layout(examples, 8, 9)
    assert loss_of(task, head, states[:, :3], plain) == pytest.approx(loss_of(task, head, states, padded), abs=1e-9)


def test_baselines_know_the_training_labels_only() -> None:
    train = [item([[2, 5, 2]], [0], [0], [label]) for label in (0, 2, 2, 1)]
    test = [item([[2, 5, 2]], [0], [0], [label]) for label in (2, 2, 0)]
    task = Xnli()
    guess = task.guess(train)
    counts = count_items(task, test, [guess(one) for one in test])
    assert score(task, counts)["accuracy"] == pytest.approx(200 / 3)
    ner = Ner()
    tagged = [item([[2, 5, 6, 2]], [0, 0], [1, 2], [0, 1]), item([[2, 5, 2]], [0], [1], [0])]
    silent = ner.guess(tagged)
    assert score(ner, count_items(ner, tagged, [silent(one) for one in tagged]))["f1"] == 0.0
    parser, det = Parsing(BiaffineSizes(3, 2, 0.0, 0.0)), NUMBERS["det"]
    rightward = item([[2, 5, 6, 7, 2]], [0] * 3, [1, 2, 3], [[2, 3, 0], [det, det, ROOT], [1, 1, 1]])
    leftward = item([[2, 5, 6, 7, 2]], [0] * 3, [1, 2, 3], [[0, 1, 2], [ROOT, det, det], [1, 1, 1]])
    for tree in (rightward, leftward):
        chain = parser.guess([tree])
        assert score(parser, count_items(parser, [tree], [chain(tree)])) == {"las": 100.0, "uas": 100.0}
