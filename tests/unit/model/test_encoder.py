"""The masked loss against a full softmax, padding, and what belongs to one language alone.

States and logits are compared with Hugging Face's XLM and Flaubert where models are exported.
"""

import re

import pytest
import torch
from torch.nn import functional

from xling.bpe.streams import END
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder
from xling.model.layers import masked_loss

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


@pytest.mark.parametrize("separate", [(False, 0), (True, 3), ("tokens", 3)])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_gradients_equal_those_of_a_full_softmax(separate: Apart, norm: str) -> None:
    encoder, language = make(norm, separate), 1
    generator = torch.Generator().manual_seed(5)
    tokens = torch.randint(4, 83, (4, 10), generator=generator)
    targets = torch.where(torch.rand(4, 10, generator=generator) < 0.3, torch.randint(4, 83, (4, 10)), -100)
    scores = encoder.logits(encoder(tokens, language)[-1], language)
    functional.cross_entropy(scores.flatten(0, 1), targets.flatten()).backward()
    expected = {n: p.grad.clone() for n, p in encoder.named_parameters() if p.grad is not None}
    encoder.zero_grad()

    index = torch.nonzero(targets.flatten() != -100)[:, 0]
    inverse = torch.full((40,), len(index) + 3)
    inverse[index] = torch.arange(len(index))
    filled = torch.cat([index, torch.zeros(3, dtype=torch.int64)])  # three places left over, as in a fixed-size batch
    wanted = torch.cat([targets.flatten()[index], torch.full((3,), -100)])
    path = encoder.path(language)
    rows = functional.embedding(tokens, path.embeddings.token)
    loss = masked_loss(path, rows, filled, inverse, wanted, None, encoder.config.shape)
    loss.backward()
    found = {n: p.grad for n, p in encoder.named_parameters() if p.grad is not None}
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, atol=1e-6, rtol=1e-4, msg=name)


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
