"""The encoder against Hugging Face's XLM and Flaubert, and the masked loss against a full softmax."""

import re

import pytest
import torch
from torch.nn import functional

from xling.bpe.streams import END
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder
from xling.model.layers import masked_loss

transformers = pytest.importorskip("transformers")

LANGUAGES = ("en", "fr")
Apart = tuple[bool | str, int]  # separate embeddings, layers
SETTINGS: list[Apart] = [(embeddings, layers) for embeddings in (False, True, "tokens") for layers in (0, 3, 6)]


def make(norm: str = "post", separate: Apart = (False, 0), activation: str = "gelu", sentences: int = 0) -> Encoder:
    shape = Shape(8, 32, 4, 128, activation, 0.0, 0.0, norm, 1e-12, 40, True, sentences)  # type: ignore[arg-type]
    sizes = (101, 83) if separate[0] else (101, 101)
    softmax = "per-language" if separate[0] else "shared"
    return Encoder(ModelConfig(LANGUAGES, sizes, shape, Separate(*separate), softmax), seed=7)  # type: ignore[arg-type]


def as_hugging_face(encoder: Encoder, language: int, kind: str) -> torch.nn.Module:
    """Put the path of one language into a model of its own."""
    shape, path = encoder.config.shape, encoder.path(language)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=path.size, emb_dim=shape.width, n_layers=shape.layers, n_heads=shape.heads, dropout=0.0,
        attention_dropout=0.0, gelu_activation=shape.activation == "gelu", n_langs=2, use_lang_emb=True,
        max_position_embeddings=shape.positions, layer_norm_eps=shape.norm_eps, pad_index=0,
    )  # fmt: skip
    if kind == "Flaubert":
        config.pre_norm = True
    model = getattr(transformers, f"{kind}WithLMHeadModel")(config).eval()
    body, embeddings = model.transformer, path.embeddings
    state = {
        "embeddings.weight": embeddings.token[: path.size],
        "position_embeddings.weight": embeddings.position,
        "lang_embeddings.weight": torch.stack([embeddings.language, embeddings.language]),
        "layer_norm_emb.weight": embeddings.norm_weight,
        "layer_norm_emb.bias": embeddings.norm_bias,
    }
    for i, w in enumerate(path.layers):
        for name, part in (("weight", w.qkv_weight), ("bias", w.qkv_bias)):
            for piece, values in zip("qkv", part.chunk(3), strict=True):
                state[f"attentions.{i}.{piece}_lin.{name}"] = values
        for name in ("weight", "bias"):
            state[f"attentions.{i}.out_lin.{name}"] = getattr(w, f"out_{name}")
            state[f"ffns.{i}.lin1.{name}"] = getattr(w, f"up_{name}")
            state[f"ffns.{i}.lin2.{name}"] = getattr(w, f"down_{name}")
            state[f"layer_norm1.{i}.{name}"] = getattr(w, f"norm1_{name}")
            state[f"layer_norm2.{i}.{name}"] = getattr(w, f"norm2_{name}")
    body.load_state_dict(state, strict=True)
    with torch.no_grad():
        model.pred_layer.proj.weight.copy_(path.softmax_weight[: path.size])
        model.pred_layer.proj.bias.copy_(path.softmax_bias[: path.size])
    return model


@pytest.mark.parametrize("separate", SETTINGS)
@pytest.mark.parametrize("language", [0, 1])
def test_each_language_is_an_xlm_of_its_own(separate: Apart, language: int) -> None:
    encoder = make(separate=separate).eval()
    tokens = torch.randint(4, 83, (3, 17), generator=torch.Generator().manual_seed(1))
    other = as_hugging_face(encoder, language, "XLM")
    with torch.no_grad():
        states = encoder(tokens, language)
        theirs = other(tokens, langs=torch.full_like(tokens, language), output_hidden_states=True)
        ours = encoder.logits(states[-1], language)
    assert len(states) == 9
    assert ours.shape == (3, 17, encoder.config.sizes[language])
    torch.testing.assert_close(ours, theirs.logits, atol=1e-4, rtol=0)
    for mine, hidden in zip(states, theirs.hidden_states, strict=True):
        torch.testing.assert_close(mine, hidden, atol=1e-4, rtol=0)


def test_relu_equals_xlm_without_gelu() -> None:
    encoder = make(activation="relu").eval()
    tokens = torch.randint(4, 101, (2, 9))
    with torch.no_grad():
        theirs = as_hugging_face(encoder, 0, "XLM")(tokens, langs=torch.zeros_like(tokens)).logits
        torch.testing.assert_close(encoder.logits(encoder(tokens, 0)[-1], 0), theirs, atol=1e-4, rtol=0)


def test_pre_norm_is_flauberts(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = make(norm="pre").eval()
    tokens = torch.randint(4, 101, (2, 9), generator=torch.Generator().manual_seed(3))
    model = as_hugging_face(encoder, 1, "Flaubert")
    for attention in model.transformer.attentions:  # the library subscripts its own cache, which it cannot
        inner = attention.forward
        monkeypatch.setattr(attention, "forward", lambda x, m, inner=inner, **_: inner(x, m))
    monkeypatch.setattr(transformers.EncoderDecoderCache, "__getitem__", lambda *_: None, raising=False)
    with torch.no_grad():
        theirs = model(tokens, langs=torch.ones_like(tokens)).logits
        torch.testing.assert_close(encoder.logits(encoder(tokens, 1)[-1], 1), theirs, atol=1e-4, rtol=0)


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
