"""Encoders on disk: weights as safetensors and the configuration as JSON; reading executes no code."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from xling.core.errors import InputError
from xling.core.io import atomic_path, check_seal, known_sha256, read_json, read_saved, sha256_of, write_json
from xling.core.records import read_record
from xling.model.config import ModelConfig
from xling.model.encoder import Encoder

PROVENANCE = "provenance.json"


def weights_of(encoder: Encoder) -> dict[str, Tensor]:
    """Return a copy of every parameter on the CPU by name; vocabulary tables come without padding rows."""
    return {
        name: parameter.detach()[: encoder.vocabulary(name)].cpu().contiguous().clone()
        for name, parameter in encoder.named_parameters()
    }


def put_weights(encoder: Encoder, weights: Mapping[str, Tensor], path: Path | str) -> None:
    """Copy weights read from a file into an encoder, which must have exactly these parameters."""
    parameters = dict(encoder.named_parameters())
    for name in sorted(parameters.keys() ^ weights.keys()):
        raise InputError(path, f"{'no' if name in parameters else 'unknown'} parameter {name}: another model's weights")
    for name, parameter in parameters.items():
        place = parameter.detach()[: encoder.vocabulary(name)]
        if place.shape != weights[name].shape:
            raise InputError(path, f"{name} has shape {tuple(weights[name].shape)}, expected {tuple(place.shape)}")
        with torch.no_grad():
            place.copy_(weights[name])


def save_encoder(encoder: Encoder, folder: Path, made: Mapping[str, Any] | None = None) -> None:
    """Write model.json, provenance.json with the hash of the weights (if `made` is given), and the weights last."""
    write_json(folder / "model.json", asdict(encoder.config))
    with atomic_path(folder / "model.safetensors", sealed=True) as temporary:
        save_file(weights_of(encoder), temporary)
        if made is not None:
            write_json(folder / PROVENANCE, {**made, "weights_sha256": sha256_of(temporary)})


def load_encoder(folder: Path) -> Encoder:
    """Read the encoder that `save_encoder` wrote, ready for evaluation."""
    encoder = Encoder(read_record(ModelConfig, read_json(folder / "model.json"), folder / "model.json"))
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.zero_()  # the padding rows of vocabulary tables are not on disk
    path = folder / "model.safetensors"
    put_weights(encoder, load_tensors(path), path)
    return encoder.eval()


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read a file of weights; its hash must match the one in the provenance.json beside it, if one is recorded."""
    check_seal(path)
    known = (read_saved(path.with_name(PROVENANCE)) or {}).get("weights_sha256")
    if known is not None and known != known_sha256(path):
        raise InputError(path, f"damaged: its sha256 is not the one in {PROVENANCE}", fix="copy or train it again")
    try:
        return load_file(path)
    except SafetensorError as error:
        raise InputError(path, f"not whole: {error}", fix="copy or train it again") from None
