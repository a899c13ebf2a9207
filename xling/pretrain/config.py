"""A training run as its resolved run.json describes it (section 3.1 of the paper)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.core.seeds import derive_seed
from xling.model.config import ModelConfig, Separate, Shape, check
from xling.model.fields import from_dict


@dataclass(frozen=True)
class Pretrain:
    """How a model is trained. An update is `micro_batches` batches, each of one language, averaged alike."""

    sequences: Literal["streams", "lines"]
    length: int
    micro_batch_tokens: int
    micro_batches: int
    updates: int
    language_exponent: float
    mask_rate: float
    mask_share: float
    random_share: float
    random_words: Literal["any", "language"]
    lr: float
    warmup: int
    warmup_from: float
    schedule: Literal["inverse-sqrt", "linear"]
    final_lr_share: float
    betas: tuple[float, float]
    eps: float
    weight_decay: float
    clip: float
    precision: Literal["float32", "bf16", "fp16", "auto"]
    validate_every: int
    validation_tokens: int
    save_every: int = 1000  # this and the next decide no weights: a run.json may leave them to the command line
    keep_checkpoints: int = 2
    language_share: Literal["lines", "tokens", "even"] = "lines"  # runs before these two keys were so
    language_draws: Literal["independent", "stratified"] = "independent"


@dataclass(frozen=True)
class Run:
    """One model of the study: what it is, its languages, its seed, how it is trained."""

    model: str
    languages: tuple[str, ...]
    selection_language: str
    seed: int
    shape: Shape
    separate: Separate
    softmax: Literal["shared", "per-language"]
    pretrain: Pretrain

    def model_config(self, sizes: Mapping[str, int], path: Path) -> ModelConfig:
        """Return the encoder's configuration, given the vocabulary size of each language."""
        ordered = tuple(sizes[code] for code in self.languages)
        return check(ModelConfig(self.languages, ordered, self.shape, self.separate, self.softmax), path)


def read_run(path: Path) -> Run:
    """Read and check a run.json."""
    values = read_json(path)
    if isinstance(values, dict):
        values.pop("made_from", None)  # text and vocabulary, for the reader: the streams hold them
    run = from_dict(Run, values, path)
    for problem in _problems(run):
        raise InputError(path, problem)
    return replace(run, seed=seed_of(run))


def seed_of(run: Run) -> int:
    """Return the seed of a run's numbers: other languages are independent, settings of one pair start alike."""
    return derive_seed("run", run.seed, *run.languages)


def _problems(run: Run) -> list[str]:
    p = run.pretrain
    positive = {
        "length": p.length, "micro_batch_tokens": p.micro_batch_tokens, "micro_batches": p.micro_batches,
        "validate_every": p.validate_every, "validation_tokens": p.validation_tokens, "save_every": p.save_every,
        "keep_checkpoints": p.keep_checkpoints, "lr": p.lr, "clip": p.clip, "eps": p.eps,
    }  # fmt: skip
    found = [f"pretrain.{name}: expected more than 0, not {value}" for name, value in positive.items() if value <= 0]
    if p.updates < 0 or p.warmup < 0:
        found.append("pretrain: updates and warmup cannot be negative")
    if run.selection_language not in run.languages:
        found.append(f"selection_language: {run.selection_language!r} is none of {', '.join(run.languages)}")
    if run.shape.sentences and p.sequences == "streams":
        found.append("shape.sentences: sentence vectors need pretrain.sequences: lines; a stream starts anywhere")
    if p.length > run.shape.positions:
        found.append(f"pretrain.length: {p.length} tokens, but shape.positions is {run.shape.positions}")
    if p.micro_batch_tokens < p.length:
        found.append(f"pretrain.micro_batch_tokens: {p.micro_batch_tokens} hold no sequence of {p.length}")
    if not (0 < p.mask_rate < 1 and p.mask_share >= 0 and p.random_share >= 0 and p.mask_share + p.random_share <= 1):
        found.append("pretrain: mask_rate must lie in (0, 1), mask_share and random_share add up to at most 1")
    return found
