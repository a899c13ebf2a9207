"""Sentence vectors and positions that start anew after `</s>`."""

from dataclasses import replace

import torch
from torch.nn import functional

from xling.interop.hugging_face import hugging_face_weights
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder
from xling.model.layers import places

SHAPE = Shape(2, 16, 2, 32, "relu", 0.0, 0.0, "pre", 1e-12, 12, True, sentences=2)
CONFIG = ModelConfig(("en", "fr"), (30, 30), SHAPE, Separate(False, 0), "shared")
PAIR = torch.tensor([[2, 5, 6, 7, 2, 8, 9, 2, 0], [2, 2, 5, 2, 5, 6, 2, 0, 0]])


def test_an_end_closes_its_sentence_and_what_follows_starts_anew() -> None:
    positions, sentences = places(PAIR)
    assert positions.tolist() == [[0, 1, 2, 3, 4, 1, 2, 3, 1], [0, 1, 1, 2, 1, 2, 3, 1, 2]]
    assert sentences.tolist() == [[0, 0, 0, 0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 2, 2, 2, 3, 3]]


def test_the_lowest_states_are_the_sum_of_what_the_tables_say() -> None:
    encoder = Encoder(CONFIG, 1).eval()
    weights = encoder.path(1).embeddings
    positions, sentences = places(PAIR)
    total = weights.token[PAIR] + weights.position[positions] + weights.sentence[sentences.clamp(max=1)]
    total = total + weights.language
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


def test_a_long_text_does_not_leave_the_tables() -> None:
    encoder = Encoder(CONFIG, 1).eval()
    tokens = torch.full((1, 20), 5)
    tokens[0, ::4] = 2
    assert torch.isfinite(encoder(tokens, 0)[-1]).all()
