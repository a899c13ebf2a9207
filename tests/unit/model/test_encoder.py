"""Encoders: configurations, initial weights, embeddings, dropout by place and key; models and checkpoints on disk.

States and logits, of padded batches too, are compared with Hugging Face's XLM and Flaubert where models are exported,
the masked loss and its gradients with a full softmax where models are trained.
"""

import logging
import math
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from scipy.stats import chi2
from torch.nn import functional

from xling.core.errors import InputError
from xling.core.io import read_json, seal_of, sha256_of, write_json
from xling.interop.hugging_face import hugging_face_weights
from xling.model.checkpoint import damage, newest, prune, save
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder, owner_of
from xling.model.files import load_encoder, put_weights, save_encoder, weights_of
from xling.model.layers import STEPS, draw_keys, dropout, places, scrambled

SMALL = Shape(3, 16, 2, 64, "gelu", 0.1, 0.1, "post", 1e-12, 12, True)


def config(embeddings=True, layers=2, **shape):
    sizes, softmax = ((70, 66), "per-language") if embeddings else ((70, 70), "shared")
    return ModelConfig(("en", "fr"), sizes, replace(SMALL, **shape), Separate(embeddings, layers), softmax)


PAIR = torch.tensor([[2, 5, 6, 7, 2, 8, 9, 2, 0], [2, 2, 5, 2, 5, 6, 2, 0, 0]])


def test_the_lowest_states_are_the_sum_of_what_the_tables_say():
    positions, sentences = places(PAIR)  # </s> closes its sentence, and what follows starts anew
    assert positions.tolist() == [[0, 1, 2, 3, 4, 1, 2, 3, 1], [0, 1, 1, 2, 1, 2, 3, 1, 2]]
    assert sentences.tolist() == [[0, 0, 0, 0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 2, 2, 2, 3, 3]]
    encoder = Encoder(config(False, 0, norm="pre", sentences=2), 1).eval()
    weights = encoder.path(1).embeddings
    total = weights.token[PAIR] + weights.position[positions] + weights.sentence[sentences.clamp(max=1)]
    total = total + weights.language
    assert torch.isfinite(encoder(torch.full((1, 20), 5), 0)[-1]).all()  # a long text does not leave the tables
    expected = functional.layer_norm(total, (16,), weights.norm_weight, weights.norm_bias, 1e-12)
    torch.testing.assert_close(encoder(PAIR, 1)[0], expected)


def test_one_sentence_has_the_positions_it_always_has():
    encoder, plain = (Encoder(config(False, 0, sentences=number), 1).eval() for number in (2, 0))
    exported = hugging_face_weights(encoder, 0)["transformer.position_embeddings.weight"]
    plain.get_parameter("embeddings.shared.position").data.copy_(exported)
    for one, other in zip(encoder(PAIR[:1, :5], 0), plain(PAIR[:1, :5], 0), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("sentences", [0, 2])
def test_tokens_alone_are_separate_embeddings_with_the_rest_made_equal(sentences):
    tokens_apart, all_apart = (Encoder(config(kind, 2, sentences=sentences), 7).eval() for kind in ("tokens", True))
    ours, generator = dict(tokens_apart.named_parameters()), torch.Generator().manual_seed(2)
    for parameter in ours.values():  # as after training: norms start alike, whoever owns them
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator)
    assert not torch.allclose(tokens_apart(PAIR, 1)[0], all_apart(PAIR, 1)[0], atol=1e-2)
    for name, parameter in all_apart.named_parameters():
        common = re.sub(r"^embeddings\.\w+", "embeddings.shared", name)
        parameter.data.copy_(ours[name if name in ours else common])
    for language in (0, 1):
        mine, theirs = tokens_apart(PAIR, language), all_apart(PAIR, language)
        assert all(map(torch.equal, mine, theirs))
        assert torch.equal(tokens_apart.logits(mine[-1], language), all_apart.logits(theirs[-1], language))


STATES = torch.ones(64, 32, 128)
KEYS = [torch.tensor(key, dtype=torch.int32) for key in (0, 1, -1, 123_456_789, -2_000_000_000)]


def test_values_are_spread_evenly_and_unrelated_to_their_neighbours_and_to_other_keys():
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
def test_a_share_is_dropped_and_the_mean_and_the_gradient_are_those_of_dropout(rate):
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
        drawn.append(draw_keys(replace(SMALL, dropout=rate), torch.device("cpu")).tolist())
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) == 1 + 2 * SMALL.layers  # a key for each dropout


def test_initial_weights_are_as_the_paper_says():
    wide = replace(SMALL, width=64, feedforward=256, positions=512)
    weights = weights_of(Encoder(ModelConfig(("en",), (5000,), wide, Separate(False, 0), "shared"), seed=1))
    assert weights["embeddings.shared.token"].std().item() == pytest.approx(64**-0.5, rel=0.01)
    assert weights["embeddings.shared.position"].std().item() == pytest.approx(64**-0.5, rel=0.02)
    down = weights["layers.0.shared.down_weight"]
    assert down.abs().max().item() <= 1 / 16
    assert down.std().item() == pytest.approx(1 / 16 / math.sqrt(3), rel=0.02)
    assert torch.equal(weights["layers.0.shared.norm1_weight"], torch.ones(64))
    assert not any(name.startswith("language.") for name in weights)  # one language has no language embedding


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"softmax": "shared"}, r"softmax: expected per-language, because it is tied to the embeddings"),
        ({"separate": {"embeddings": True, "layers": 4}}, r"separate\.layers: 4 goes beyond the model's 3 layers"),
        ({"separate": {"embeddings": "all", "layers": 2}}, r"separate\.embeddings: expected .* tokens, found 'all'"),
        ({"separate": {"embeddings": 1, "layers": 2}}, r"separate\.embeddings: expected one of .*, found '1'"),
        ({"languages": ["en", "en"]}, "languages: expected at least one, all different"),
        ({"languages": ["en", "shared"]}, "languages: 'shared' and names with a dot cannot be used"),
        ({"shape": asdict(SMALL) | {"heads": 3}}, r"shape\.heads: 3 does not divide the width 16"),
        ({"shape": asdict(SMALL) | {"dropout": 1.0}}, r"shape\.dropout: expected less than 1, found 1\.0"),
    ],
)
def test_a_wrong_configuration_is_one_clear_line(tmp_path, change, message):
    save_encoder(Encoder(config(), seed=3), tmp_path)
    write_json(tmp_path / "model.json", {**read_json(tmp_path / "model.json"), **change})
    with pytest.raises(InputError, match=message) as caught:
        load_encoder(tmp_path)
    assert "\n" not in str(caught.value)
    assert "model.json" in str(caught.value)


def test_weights_are_read_back_and_refused_if_truncated_or_of_another_model(tmp_path):
    encoder, path = Encoder(config(), seed=3), tmp_path / "model.safetensors"
    for other, problem in (
        (config(True, 1), r"model\.safetensors: no parameter layers\.1\.en\.down_bias: another model's weights"),
        (config(True, 3), r"model\.safetensors: unknown parameter layers\.2\.en\.down_bias: another model's weights"),
        (replace(config(), sizes=(70, 65)), r"embeddings\.fr\.token has shape \(65, 16\), expected \(66, 16\)"),
    ):
        with pytest.raises(InputError, match=problem):
            put_weights(encoder, weights_of(Encoder(other, seed=3)), path)
    save_encoder(encoder, tmp_path, {"commit": "abc"})
    assert read_json(tmp_path / "provenance.json") == {"commit": "abc", "weights_sha256": sha256_of(path)}
    assert load_file(path)["embeddings.fr.token"].shape == (66, 16)
    again = load_encoder(tmp_path)
    assert again.config == encoder.config
    assert all(map(torch.equal, again.parameters(), encoder.parameters()))  # those that fill up tables too
    path.write_bytes(path.read_bytes()[:-10])
    proofs = [seal_of(path), tmp_path / "provenance.json", path]
    for problem in ("damaged, or changed since", r"damaged: .* in provenance\.json", "not whole"):
        with pytest.raises(InputError, match=rf"model\.safetensors: {problem}"):
            load_encoder(tmp_path)
        proofs.pop(0).unlink()


@pytest.mark.parametrize("start", ["equal", "copies", "apart"])
def test_separate_parameters_begin_as_copies_of_the_shared_ones_or_apart(start):
    own_config = replace(config(), separate=Separate(True, 2, start))
    shared, own = (dict(Encoder(made, seed=3).named_parameters()) for made in (config(False, 0), own_config))
    names = [name for name in own if name.startswith(("embeddings.en", "layers.")) and owner_of(name) == "en"]
    for name in names:
        alike = "norm" in name or (start != "apart" and not name.endswith(".token"))
        for twin in (own[name.replace(".en.", ".fr.")], shared[name.replace(".en.", ".shared.")]):
            assert torch.equal(own[name], twin) == alike, name
            if name.endswith(".token"):  # <pad>, <unk>, </s> and <mask> are in every vocabulary, words are not
                assert (own[name][:6] == twin[:6]).all(1).tolist() == [start == "equal"] * 4 + [False] * 2
    assert torch.equal(own["language.en"], own["language.fr"]) == (start == "equal")
    assert len(names) == 4 + 2 * 12
    tokens = dict(Encoder(config("tokens", 0), seed=3).named_parameters())  # a setting shifts no number of another
    for one, other, name in ((own, shared, "layers.2.shared.qkv_weight"), (tokens, shared, "embeddings.shared.position"),
                             (own, tokens, "embeddings.fr.token")):  # fmt: skip
        assert torch.equal(one[name][4:], other[name][4:])


def save_some(folder, *updates):
    for update in updates:
        save(folder, {"weights": {"w": torch.full((50,), float(update))}}, {"update": update, "best_update": 1})


def test_the_newest_is_found_and_it_and_the_best_are_kept(tmp_path):
    assert newest(tmp_path) is None
    save_some(tmp_path, 1, 2, 20, 4, 3)
    (tmp_path / ".step-0000026.77").mkdir()  # half written
    found = newest(tmp_path)
    assert found is not None
    assert (found.meta["update"], found.meta["best_update"], found.folder.name) == (20, 1, "step-0000020")
    assert found.tensors("weights")["w"][0].item() == 20.0
    prune(tmp_path, 2, best=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-0000002", "step-0000004", "step-0000020"]


@pytest.mark.parametrize(
    "harm", ["truncate", "flip", "remove", "meta", "edited", "other update", "a field", "no object"]
)
def test_a_damaged_newest_is_passed_over_with_a_warning(tmp_path, harm, caplog, monkeypatch):
    save_some(tmp_path, 1, 2)
    weights, meta = tmp_path / "step-0000002" / "weights.safetensors", tmp_path / "step-0000002" / "meta.json"
    content = weights.read_bytes()
    {
        "truncate": lambda: weights.write_bytes(content[:-7]),
        "flip": lambda: weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1])),
        "remove": weights.unlink,
        "meta": lambda: meta.write_text(meta.read_text()[:20]),
        "edited": lambda: meta.write_text(meta.read_text().replace('"best_update": 1', '"best_update": 2')),
        "other update": lambda: write_json(meta, {**read_json(meta), "update": 7}),
        "a field": lambda: write_json(meta, {k: v for k, v in read_json(meta).items() if k != "best_update"}),
        "no object": lambda: write_json(meta, [3]),
    }[harm]()
    monkeypatch.setattr(logging.getLogger("xling"), "propagate", True)
    with caplog.at_level(logging.WARNING, "xling"):
        found = newest(tmp_path, ["best_update"])
    assert found is not None
    assert found.meta["update"] == 1
    assert "step-0000002 is damaged and passed over" in caplog.text
    save_some(tmp_path, 2)  # when its update comes again, it is replaced
    assert damage(tmp_path / "step-0000002") == ""
