import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from xling.finetune.biaffine import SLOPE, Biaffine, drop_alike
from xling.finetune.settings import BiaffineSizes
from xling.finetune.task import initialise_head

SIZES = BiaffineSizes(arc=5, label=3, dropout=0.33, input_dropout=0.2)


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
