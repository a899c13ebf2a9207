"""Losses and predictions against numbers worked out by hand."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from xling.finetune.batches import Layout
from xling.finetune.data import Example
from xling.finetune.parsing import NUMBERS, ROOT, SLOPE, Biaffine, Parsing, drop_alike
from xling.finetune.settings import BiaffineSizes
from xling.finetune.task import Task, count_items, initialise_head, score
from xling.finetune.tasks import TAGS, Ner, Pos, Xnli

SIZES = BiaffineSizes(arc=5, label=3, dropout=0.33, input_dropout=0.2)


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


def parser(width: int = 6, labels: int = 4) -> Biaffine:
    made = Biaffine(width, SIZES, labels).double().eval().requires_grad_(False)
    for parameter in made.parameters():
        parameter.copy_(torch.from_numpy(np.random.default_rng(parameter.numel()).normal(size=parameter.shape)))
    return made


def test_scores_equal_an_explicit_loop() -> None:
    made = parser()
    states = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 4, 6)))  # the root and three words
    arc_dep, arc_head, label_dep, label_head = made.views(states)
    arcs, labels = made.arcs(arc_dep, arc_head), made.labels(label_dep, label_head)
    reduced = functional.leaky_relu(states @ made.hidden.weight.T + made.hidden.bias, SLOPE)
    one = torch.ones(1, dtype=torch.double)
    for n in range(2):
        for word in range(3):
            for head in range(4):
                dep, top = reduced[n, word + 1], reduced[n, head]
                left = torch.cat([dep[:5], one])
                expected = sum(left[i] * made.arc[i, j] * top[5 + j] for i in range(6) for j in range(5))
                assert math.isclose(float(arcs[n, word, head]), float(expected), abs_tol=1e-10)
                low, high = torch.cat([dep[10:13], one]), torch.cat([top[13:16], one])
                for label in range(4):
                    wanted = sum(low[i] * made.label[label, i, j] * high[j] for i in range(4) for j in range(4))
                    assert math.isclose(float(labels[n, word, head, label]), float(wanted), abs_tol=1e-10)


def test_labels_at_a_head_are_those_of_the_pair() -> None:
    made = parser()
    states = torch.from_numpy(np.random.default_rng(1).normal(size=(2, 4, 6)))
    _, _, dependents, heads = made.views(states)
    chosen = torch.tensor([[0, 3, 1], [2, 0, 2]])
    all_pairs = made.labels(dependents, heads)
    own = made.labels_at(dependents, torch.stack([heads[n, chosen[n]] for n in range(2)]))
    for n in range(2):
        for word in range(3):
            assert torch.allclose(own[n, word], all_pairs[n, word, chosen[n, word]], atol=1e-12)


def test_linear_layers_are_drawn_and_forms_start_at_zero() -> None:
    made = Biaffine(400, SIZES, 4)
    initialise_head(made, 1)
    weight = made.hidden.weight.detach()
    assert float(weight.abs().max()) <= 1 / 20
    assert float(weight.std()) == pytest.approx(1 / 20 / math.sqrt(3), rel=0.05)
    assert not made.hidden.bias.any()
    assert not made.arc.any()
    assert not made.label.any()
    other = Biaffine(400, SIZES, 4)
    initialise_head(other, 2)
    assert not torch.equal(other.hidden.weight, made.hidden.weight)


def test_dropout_drops_the_same_features_of_all_words() -> None:
    torch.manual_seed(0)
    dropped = drop_alike(torch.ones(3, 5, 200), 0.33, training=True)
    assert bool((dropped == dropped[:, :1]).all())
    assert set(dropped.unique().tolist()) == {0.0, torch.tensor(1 / 0.67).item()}
    assert 0.2 < (dropped == 0).float().mean() < 0.5
    assert not bool((dropped[0] == dropped[1]).all())
    assert bool((drop_alike(dropped, 0.33, training=False) == dropped).all())
