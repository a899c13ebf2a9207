"""A run directory: its metrics.jsonl and provenance.json, and the encoder that later stages open."""

import json
import logging
import platform
import socket
import time
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch

from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError
from xling.core.io import read_saved, write_json, write_text
from xling.core.provenance import commit, installed
from xling.model.config import ModelConfig
from xling.model.encoder import Encoder
from xling.model.files import load_encoder
from xling.pretrain.config import Run

log = logging.getLogger(__name__)
PACKAGES = ("torch", "numpy", "safetensors", "sentencepiece")
TRIALS = 5
DIVERGED = "diverged"  # an outcome of an attempt


class Metrics:
    """metrics.jsonl: one JSON object per line, appended during training."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, **values: Any) -> None:
        """Append a line with these values and the UTC time."""
        line = json.dumps({"time": utc(), **values}, allow_nan=True)
        with self.path.open("a", encoding="utf-8") as handle:
            handle.write(line + "\n")

    def rewind(self, update: int, *, validated: bool) -> None:
        """Drop the lines that a run resumed at `update` will write again, with its validation unless `validated`."""
        if not self.path.is_file():
            return
        stay = []
        for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:  # an attempt that was killed may have left half a line
                known = json.loads(line)
                again = update if validated or known["kind"] == "train" else update - 1
                if known["update"] <= again:
                    stay.append(f"{line}\n")
            except (json.JSONDecodeError, KeyError, TypeError):
                log.warning("%s: a damaged line is left out: %.40s", self.path, line)
        with write_text(self.path) as handle:
            handle.writelines(stay)


def utc() -> str:
    """Return the current UTC time as text."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _read_attempts(path: Path) -> dict[str, Any]:
    """Return the record of all attempts; start a new one if it is missing or damaged, since no result depends on it."""
    return read_saved(path) or {"attempts": []}


def begin_attempt(path: Path, device: torch.device, processes: int) -> None:
    """Add this attempt to provenance.json with commit, package versions and hardware."""
    known = _read_attempts(path)
    attempt = {"began": utc(), "host": socket.gethostname(), "device": device_name(device), "processes": processes}
    about = {
        "commit": commit(Path(__file__).parent),
        "python": platform.python_version(),
        "versions": installed(PACKAGES),
        "machine": platform.machine(),
    }
    write_json(path, {**known, **about, "attempts": [*known["attempts"], attempt]})


def end_attempt(path: Path, outcome: str, updates: tuple[int, int], seconds: float) -> None:
    """Record the outcome of an attempt, its first and last update, and the total seconds of all attempts."""
    known, (first, last) = _read_attempts(path), updates
    ended = {"ended": utc(), "outcome": outcome, "from_update": first, "update": last, "seconds": round(seconds, 1)}
    *earlier, attempt = known["attempts"] or [{}]
    known["attempts"] = [*earlier, attempt | ended]
    known["seconds"] = round(sum(attempt.get("seconds", 0.0) for attempt in known["attempts"]), 1)
    write_json(path, known)


def times_diverged(path: Path) -> int:
    """Return the number of most recent consecutive attempts that began at the same update and diverged."""
    attempts = _read_attempts(path)["attempts"]
    ends = [(attempt.get("outcome"), attempt.get("from_update")) for attempt in reversed(attempts)]
    same = takewhile(lambda end: end == ends[0], ends)
    return len(list(same)) if ends and ends[0][0] == DIVERGED else 0


def device_name(device: torch.device) -> str:
    """Return a readable name of the device."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU {platform.machine()}"


def useful_operations(config: ModelConfig, length: int, mask_rate: float) -> float:
    """Return the floating-point operations per token, forward and backward.

    What follows attention in the last layer, and the softmax, count at predictions only.
    """
    shape, words = config.shape, max(config.sizes)
    after_attention = 6 * (shape.width**2 + 2 * shape.width * shape.feedforward)
    per_layer = 6 * 3 * shape.width**2 + 12 * length * shape.width + after_attention
    skipped = (1 - mask_rate) * after_attention
    return float(shape.layers * per_layer - skipped + 6 * words * shape.width * mask_rate)


def measured_peak(device: torch.device, dtype: torch.dtype) -> float:
    """Return the measured operations per second of a large matrix product on random data."""
    size = 8192 if device.type == "cuda" else 512
    a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    out = torch.empty_like(a)
    times = []
    for _ in range(TRIALS):
        start = time.perf_counter()
        for _ in range(TRIALS):
            torch.mm(a, b, out=out)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        times.append((time.perf_counter() - start) / TRIALS)
    return 2 * size**3 / min(times)


def open_encoder(folder: Path, described: Run, vocabulary: Vocabulary, untrained_seed: int | None) -> Encoder:
    """Return the pretrained encoder of a folder or, given a seed, an untrained one of the same shape."""
    unknown = set(described.languages) - set(vocabulary.languages)
    if unknown:
        raise InputError(folder / "run.json", f"languages {', '.join(sorted(unknown))} are not in the vocabulary")
    sizes = {code: vocabulary.size_of(code) for code in described.languages}
    config = described.model_config(sizes, folder / "run.json")
    encoder = load_encoder(folder) if untrained_seed is None else Encoder(config, untrained_seed)
    if encoder.config != config:
        raise InputError(folder / "model.json", "not the model of run.json and this vocabulary", fix="check --vocab")
    return encoder.eval()


def language_index(described: Run, code: str, flag: str) -> int:
    """Return the index of a language in the encoder; `flag`, the option that named it, is for the error message."""
    if code not in described.languages:
        raise InputError(flag, f"the encoder has no language {code!r} (it has {', '.join(described.languages)})")
    return described.languages.index(code)
