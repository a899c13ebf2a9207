"""Token vectors that are a language's own while its positions are shared.

States and logits, of padded batches too, are compared with Hugging Face's XLM and Flaubert where models are exported,
the masked loss and its gradients with a full softmax where models are trained.
"""

import re

import pytest
import torch

from xling.bpe.streams import END
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder


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
