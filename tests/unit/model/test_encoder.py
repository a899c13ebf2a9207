"""What the embeddings add up to, dropout by place and key, and token vectors that are a language's own.

States and logits, of padded batches too, are compared with Hugging Face's XLM and Flaubert where models are exported,
the masked loss and its gradients with a full softmax where models are trained.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import chi2
from torch.nn import functional

from xling.bpe.streams import END
from xling.interop.hugging_face import hugging_face_weights
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder
from xling.model.layers import STEPS, draw_keys, dropout, places, scrambled

SHAPE = Shape(2, 16, 2, 32, "relu", 0.0, 0.0, "pre", 1e-12, 12, True, sentences=2)
CONFIG = ModelConfig(("en", "fr"), (30, 30), SHAPE, Separate(False, 0), "shared")
PAIR = torch.tensor([[2, 5, 6, 7, 2, 8, 9, 2, 0], [2, 2, 5, 2, 5, 6, 2, 0, 0]])


def test_the_lowest_states_are_the_sum_of_what_the_tables_say() -> None:
    positions, sentences = places(PAIR)  # </s> closes its sentence, and what follows starts anew
    assert positions.tolist() == [[0, 1, 2, 3, 4, 1, 2, 3, 1], [0, 1, 1, 2, 1, 2, 3, 1, 2]]
    assert sentences.tolist() == [[0, 0, 0, 0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 2, 2, 2, 3, 3]]
    encoder = Encoder(CONFIG, 1).eval()
    weights = encoder.path(1).embeddings
    total = weights.token[PAIR] + weights.position[positions] + weights.sentence[sentences.clamp(max=1)]
    total = total + weights.language
    assert torch.isfinite(encoder(torch.full((1, 20), 5), 0)[-1]).all()  # a long text does not leave the tables
    expected = functional.layer_norm(total, (16,), weights.norm_weight, weights.norm_bias, 1e-12)
    torch.testing.assert_close(encoder(PAIR, 1)[0], expected)


def test_one_sentence_has_the_positions_it_always_has() -> None:
    encoder, plain = Encoder(CONFIG, 1).eval(), Encoder(replace(CONFIG, shape=replace(SHAPE, sentences=0)), 1).eval()
    exported = hugging_face_weights(encoder, 0)["transformer.position_embeddings.weight"]
    with torch.no_grad():
        plain.get_parameter("embeddings.shared.position").copy_(exported)
    tokens = PAIR[:1, :5]
    for one, other in zip(encoder(tokens, 0), plain(tokens, 0), strict=True):
        torch.testing.assert_close(one, other)
    longer = PAIR[:1, :8]
    assert not torch.allclose(encoder(longer, 0)[-1], plain(longer, 0)[-1], atol=1e-3)


@pytest.mark.parametrize("sentences", [0, 2])
def test_tokens_alone_are_separate_embeddings_with_the_rest_made_equal(sentences: int) -> None:
    shape = Shape(8, 32, 4, 128, "gelu", 0.0, 0.0, "post", 1e-12, 40, True, sentences)
    configs = [
        ModelConfig(("en", "fr"), (101, 83), shape, Separate(kind, 3), "per-language") for kind in ("tokens", True)
    ]
    tokens_apart, all_apart = (Encoder(config, seed=7).eval() for config in configs)
    ours = dict(tokens_apart.named_parameters())
    generator = torch.Generator().manual_seed(2)
    batch = torch.randint(4, 83, (3, 17), generator=generator)
    batch[:, [0, 8]] = END
    with torch.no_grad():
        for parameter in ours.values():  # as after training: norms start alike, whoever owns them
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
        assert not torch.allclose(tokens_apart(batch, 1)[0], all_apart(batch, 1)[0], atol=1e-2)
        for name, parameter in all_apart.named_parameters():
            common = re.sub(r"^embeddings\.\w+", "embeddings.shared", name)
            parameter.copy_(ours[name if name in ours else common])
        for language in (0, 1):
            theirs = all_apart(batch, language)
            for mine, other in zip(tokens_apart(batch, language), theirs, strict=True):
                assert torch.equal(mine, other)
            assert torch.equal(tokens_apart.logits(theirs[-1], language), all_apart.logits(theirs[-1], language))


STATES = torch.ones(64, 32, 128)
KEYS = [torch.tensor(key, dtype=torch.int32) for key in (0, 1, -1, 123_456_789, -2_000_000_000)]


def test_values_are_spread_evenly_and_unrelated_to_their_neighbours_and_to_other_keys() -> None:
    columns = np.stack([scrambled(STATES, key).numpy().ravel() / STEPS for key in KEYS])
    error = 5 / np.sqrt(columns.shape[1])
    for column in columns:
        counts = np.bincount((column * 256).astype(int), minlength=256)
        expected = counts.sum() / 256
        assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-6, 255)
        assert len(np.unique(column)) > 0.9 * len(column)
    assert np.abs(np.corrcoef(columns) - np.eye(len(KEYS))).max() < error  # also of keys next to each other
    for distance in (1, 2, 32, 128, 128 * 32):  # neighbours in every direction
        assert abs(np.corrcoef(columns[3, :-distance], columns[3, distance:])[0, 1]) < error


@pytest.mark.parametrize("rate", [0.1, 0.33])
def test_a_share_is_dropped_and_the_mean_and_the_gradient_are_those_of_dropout(rate: float) -> None:
    states = STATES.clone().requires_grad_()
    dropped = dropout(states, rate, True, KEYS[3])
    share = (dropped == 0).float().mean().item()
    assert share == pytest.approx(rate, abs=5 * (rate * (1 - rate) / STATES.numel()) ** 0.5)
    assert dropped.max().item() == pytest.approx(1 / (1 - rate), rel=1e-6)
    (gradient,) = torch.autograd.grad(dropped.sum(), states)
    assert torch.equal(gradient, dropped)  # of states that are one
    assert torch.equal(dropped, dropout(STATES, rate, True, KEYS[3]))
    assert torch.equal(STATES, dropout(STATES, rate, False, KEYS[3]))
    drawn = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        drawn.append(draw_keys(replace(SHAPE, dropout=rate), torch.device("cpu")).tolist())  # type: ignore[union-attr]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) == 1 + 2 * SHAPE.layers  # a key for each dropout
