"""Configurations, initial weights, and encoders on disk."""

import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal

import pytest
import torch
from safetensors.torch import load_file

from xling.core.errors import InputError
from xling.core.io import read_json, seal_of, sha256_of, write_json
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder, owner_of
from xling.model.files import load_encoder, put_weights, save_encoder, weights_of

SHAPE = Shape(3, 16, 2, 64, "gelu", 0.1, 0.1, "post", 1e-12, 20, True)


def config(embeddings: bool | Literal["tokens"] = True, layers: int = 2) -> ModelConfig:
    separate = Separate(embeddings, layers)
    sizes = (70, 66) if separate.embeddings else (70, 70)
    return ModelConfig(("en", "fr"), sizes, SHAPE, separate, "per-language" if separate.embeddings else "shared")


@pytest.mark.parametrize("embeddings", [True, "tokens"])
def test_what_was_saved_is_read_back(tmp_path: Path, embeddings: bool | Literal["tokens"]) -> None:
    encoder = Encoder(config(embeddings), seed=3)
    save_encoder(encoder, tmp_path)
    again = load_encoder(tmp_path)
    assert again.config == encoder.config
    for name, parameter in encoder.named_parameters():
        assert torch.equal(parameter, dict(again.named_parameters())[name]), name
    assert load_file(tmp_path / "model.safetensors")["embeddings.fr.token"].shape == (66, 16)


def test_initial_weights_are_as_the_paper_says() -> None:
    wide = ModelConfig(("en",), (5000,), Shape(1, 64, 2, 256, "gelu", 0, 0, "post", 1e-12, 512, True),
                       Separate(False, 0), "shared")  # fmt: skip
    weights = weights_of(Encoder(wide, seed=1))
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
        ({"shape": asdict(SHAPE) | {"heads": 3}}, r"shape\.heads: 3 does not divide the width 16"),
        ({"shape": asdict(SHAPE) | {"dropout": 1.0}}, r"shape\.dropout: expected less than 1, found 1\.0"),
    ],
)
def test_a_wrong_configuration_is_one_clear_line(tmp_path: Path, change: dict[str, object], message: str) -> None:
    save_encoder(Encoder(config(), seed=3), tmp_path)
    write_json(tmp_path / "model.json", {**read_json(tmp_path / "model.json"), **change})
    with pytest.raises(InputError, match=message) as caught:
        load_encoder(tmp_path)
    assert "\n" not in str(caught.value)
    assert "model.json" in str(caught.value)


def test_truncated_weights_and_those_of_another_model_are_refused(tmp_path: Path) -> None:
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
    path.write_bytes(path.read_bytes()[:-10])
    proofs = [seal_of(path), tmp_path / "provenance.json", path]
    for problem in ("damaged, or changed since", r"damaged: .* in provenance\.json", "not whole"):
        with pytest.raises(InputError, match=rf"model\.safetensors: {problem}"):
            load_encoder(tmp_path)
        proofs.pop(0).unlink()


@pytest.mark.parametrize("start", ["copies", "apart"])
def test_separate_parameters_begin_as_copies_of_the_shared_ones_or_apart(start: Literal["copies", "apart"]) -> None:
    own_config = replace(config(), separate=Separate(True, 2, start))
    shared, own = (dict(Encoder(made, seed=3).named_parameters()) for made in (config(False, 0), own_config))
    names = [name for name in own if name.startswith(("embeddings.en", "layers.")) and owner_of(name) == "en"]
    for name in names:
        alike = "norm" in name or (start == "copies" and not name.endswith(".token"))
        for twin in (own[name.replace(".en.", ".fr.")], shared[name.replace(".en.", ".shared.")]):
            assert torch.equal(own[name], twin) == alike, name
    assert len(names) == 4 + 2 * 12
    tokens = dict(Encoder(config("tokens", 0), seed=3).named_parameters())  # a setting shifts no number of another
    for one, other, name in ((own, shared, "layers.2.shared.qkv_weight"), (tokens, shared, "embeddings.shared.position"),
                             (own, tokens, "embeddings.fr.token")):  # fmt: skip
        assert torch.equal(one[name], other[name])
