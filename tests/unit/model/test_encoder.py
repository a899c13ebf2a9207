"""Padding, and what belongs to one language alone.

States and logits are compared with Hugging Face's XLM and Flaubert where models are exported, the masked loss and its
gradients with a full softmax where models are trained.
"""

import re

import pytest
import torch

from xling.bpe.streams import END
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder

LANGUAGES = ("en", "fr")
Apart = tuple[bool | str, int]  # separate embeddings, layers


def make(norm: str = "post", separate: Apart = (False, 0), sentences: int = 0) -> Encoder:
    shape = Shape(8, 32, 4, 128, "gelu", 0.0, 0.0, norm, 1e-12, 40, True, sentences)  # type: ignore[arg-type]
    sizes = (101, 83) if separate[0] else (101, 101)
    softmax = "per-language" if separate[0] else "shared"
    return Encoder(ModelConfig(LANGUAGES, sizes, shape, Separate(*separate), softmax), seed=7)  # type: ignore[arg-type]


def test_padding_changes_nothing() -> None:
    encoder = make(separate=(True, 3)).eval()
    tokens = torch.randint(4, 83, (2, 12))
    keep = torch.ones(2, 12, dtype=torch.bool)
    keep[:, 8:] = False
    with torch.no_grad():
        full, cut = encoder(tokens, 1, keep), encoder(tokens[:, :8], 1)
    for padded_states, plain in zip(full, cut, strict=True):
        torch.testing.assert_close(padded_states[:, :8], plain, atol=1e-5, rtol=0)


@pytest.mark.parametrize("sentences", [0, 2])
def test_tokens_alone_are_separate_embeddings_with_the_rest_made_equal(sentences: int) -> None:
    tokens_apart, all_apart = (make(separate=(kind, 3), sentences=sentences).eval() for kind in ("tokens", True))
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


@pytest.mark.parametrize("embeddings", [True, "tokens"])
def test_only_the_language_at_hand_gets_gradients(embeddings: bool | str) -> None:
    encoder = make(separate=(embeddings, 3))
    tokens = torch.randint(4, 83, (2, 6))
    encoder.logits(encoder(tokens, 0)[-1], 0).sum().backward()
    touched = {n for n, p in encoder.named_parameters() if p.grad is not None}
    assert touched
    assert not any(".fr." in name or name.endswith(".fr") for name in touched)
    assert {"language.en", "embeddings.en.token", "layers.2.en.qkv_weight", "layers.3.shared.qkv_weight"} <= touched
    assert ("embeddings.shared.position" in touched) == (embeddings == "tokens")
