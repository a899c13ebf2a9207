"""The configuration of a training run, read from its resolved run.json (section 3.1 of the paper)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from xling.core.io import read_json
from xling.core.records import Count, NotNegative, OpenShare, Positive, Share, Size, key, read_record, record, refuse
from xling.core.seeds import derive_seed
from xling.model.config import ModelConfig, Separate, Shape, Softmax


@record
class Pretrain:
    """Masked language modelling (section 3.1). An update averages `micro_batches` batches, each of one language."""

    sequences: Literal["streams", "lines"] = key("Streams (the paper), or one line per sequence, for tiny models.")
    length: Count = key("Longest sequence in tokens; every stream has exactly this length.")
    micro_batch_tokens: Count = key("Tokens per micro-batch; each micro-batch is of one language.")
    micro_batches: Count = key("Micro-batches per update, whatever the number of GPUs (the paper has 8 GPUs).")
    updates: Size = key("Optimiser updates in total.")
    language_exponent: Share = key("A language is sampled by its share of the text, raised to this power.")
    mask_rate: OpenShare = key("Share of the tokens that are predicted.")
    mask_share: Share = key("Share of the predicted tokens that are replaced by <mask>.")
    random_share: Share = key("Share of the predicted tokens that are replaced by a random word.")
    random_words: Literal["any", "language"] = key(
        "Random words come from the whole vocabulary, foreign words included, or from the text's own language."
    )
    lr: Positive = key("Peak learning rate.")
    warmup: Size = key("Updates of linear warm-up.")
    warmup_from: Positive = key("Learning rate at the start of the warm-up.")
    schedule: Literal["inverse-sqrt", "linear"] = key("Decay after the warm-up.")
    final_lr_share: Share = key("Linear decay ends at this share of the peak.")
    betas: tuple[OpenShare, ...] = key("Adam's betas.", min_length=2, max_length=2)
    eps: Positive = key("Adam's epsilon.")
    weight_decay: NotNegative = key("Decoupled weight decay.")
    clip: Positive = key("Largest norm of the gradient.")
    precision: Literal["float32", "bf16", "fp16", "auto"] = key("auto: bf16 or else fp16 on a GPU, float32 on a CPU.")
    validate_every: Count = key("Updates between validations.")
    validation_tokens: Count = key("Tokens of each language that a validation reads.")
    # These two settings do not affect the weights, so run.json may leave them to the command line.
    save_every: Count = key("Updates between checkpoints.", default=1000)
    keep_checkpoints: Count = key("Newest checkpoints that are kept besides the best.", default=2)
    # The defaults below describe the behaviour of runs made before these keys existed.
    language_share: Literal["lines", "tokens", "even"] = key(
        "What a language's share is measured in (the paper: lines); even gives all languages the same.", default="lines"
    )
    language_draws: Literal["independent", "stratified"] = key(
        "Each micro-batch draws its language (the paper), or every update holds each language in proportion.",
        default="independent",
    )
    decay_from: Share = key(
        "Linear decay begins after this share of the updates, or after the warm-up if that ends later.", default=0.0
    )

    def __post_init__(self) -> None:
        problems = []
        if self.micro_batch_tokens < self.length:
            problems.append(f"micro_batch_tokens: {self.micro_batch_tokens} holds no sequence of length {self.length}")
        if self.mask_share + self.random_share > 1:
            problems.append("random_share: mask_share and random_share together exceed 1")
        refuse(problems)


@record
class Run:
    """One model of the study: its name, languages, seed, architecture and training settings."""

    model: str
    languages: tuple[str, ...]
    selection_language: str
    seed: Size
    shape: Shape
    separate: Separate
    softmax: Softmax
    pretrain: Pretrain

    def __post_init__(self) -> None:
        problems = [f"pretrain.{problem}" for problem in fitting_problems(self.pretrain, self.shape)]
        if self.selection_language not in self.languages:
            problems.append(f"selection_language: {self.selection_language!r} is none of {', '.join(self.languages)}")
        refuse(problems)

    def model_config(self, sizes: Mapping[str, int], path: Path) -> ModelConfig:
        """Return the configuration of the encoder, given the vocabulary size of each language."""
        values = {"languages": self.languages, "sizes": [sizes[code] for code in self.languages]}
        parts = {"shape": self.shape, "separate": self.separate, "softmax": self.softmax}
        return read_record(ModelConfig, values | parts, path)


def fitting_problems(pretrain: Pretrain, shape: Shape) -> Iterator[str]:
    """Yield a description of each conflict between training settings and the shape of the encoder."""
    if pretrain.length > shape.positions:
        yield f"length: {pretrain.length} is longer than the model's {shape.positions} positions"
    if shape.sentences and pretrain.sequences == "streams":
        yield "sequences: expected lines, because the model has sentence vectors and a stream starts anywhere"


def read_run(path: Path) -> Run:
    """Read and check a run.json."""
    values = read_json(path)
    if isinstance(values, dict):
        values.pop("made_from", None)  # describes text and vocabulary, for human readers only
    run = read_record(Run, values, path)
    # Runs with different languages have independent seeds; models of the same languages start from the same seed.
    return replace(run, seed=derive_seed("run", run.seed, *run.languages))
