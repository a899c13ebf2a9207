"""Training batches and their masks (section 3.1 of the paper), each determined by (run, update, micro-batch).

Each random generator is seeded from a label, the run's seed, the update and, where needed, the micro-batch. So any
process can build any batch in any order, a resumed run replays nothing, and the batches do not depend on the number of
processes. Sequences are drawn with replacement, so a checkpoint needs no position in the data beyond the update number.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xling.bpe.streams import END, SPECIAL, TokenStream
from xling.core.errors import InputError
from xling.core.seeds import derive_seed, numpy_rng
from xling.model.layers import rounded
from xling.pretrain.config import Pretrain, Run

MASK = 3  # the id of <mask> in every vocabulary
IGNORED = -100  # target value that the loss skips: cross_entropy's default ignore_index
Ids = NDArray[np.int64]
Sampler = Callable[[np.random.Generator], Ids]  # draws sequences of one language, all of one length
Tables = Mapping[str, NDArray[np.int32]]  # by language: the vocabulary's id for each piece of the token streams


class Batch(NamedTuple):
    """n sequences of s tokens in one language, with their targets; all tensors but `packed` are views of it.

    In the comments, `places` is the number of prediction slots; an unused slot has the target IGNORED.
    """

    language: int
    seed: int  # for dropout
    tokens: Tensor  # (n, s)
    inverse: Tensor  # (n * s): for each position the index of its prediction, or `places` if it has none
    picks: Tensor  # (places): the flat position of each prediction
    targets: Tensor  # (places)
    packed: Tensor


class StreamSampler:
    """Draws windows of a fixed length from the token stream, in which `</s>` separates lines; no padding is needed."""

    def __init__(self, stream: TokenStream, where: Path, length: int, budget: int) -> None:
        if len(stream) < length:
            raise InputError(where, f"only {len(stream)} training tokens, but a sequence needs {length}")
        self.stream, self.steps, self.rows = stream, np.arange(length), max(1, budget // length)

    def __call__(self, rng: np.random.Generator) -> Ids:
        """Return as many windows as fit in the token budget (at least one), at random positions."""
        starts = rng.integers(len(self.stream) - len(self.steps) + 1, size=self.rows)
        return self.stream.at(starts[:, None] + self.steps)


class LineSampler:
    """Each sequence is one line, `</s> line </s>`, cut off after `length` tokens.

    All sequences of a batch have the same length, so no padding is needed. The probability of a length is proportional
    to the number of tokens in all sequences of that length, so every token of every sequence is about equally likely.
    """

    def __init__(self, stream: TokenStream, where: Path, length: int, budget: int) -> None:
        self.stream, self.budget = stream, budget
        lengths = line_lengths(stream, length)
        self.order = np.argsort(lengths, kind="stable")
        self.order = self.order[np.searchsorted(lengths[self.order], 3) :]  # an empty line is just </s> </s>
        if not len(self.order):
            raise InputError(where, "every line is empty")
        self.lengths, self.first, self.counts = np.unique(lengths[self.order], return_index=True, return_counts=True)
        mass = np.cumsum(self.lengths * self.counts, dtype=np.float64)
        self.mass = mass / mass[-1]

    def __call__(self, rng: np.random.Generator) -> Ids:
        """Return as many lines of one length as the budget holds."""
        bucket = int(np.searchsorted(self.mass, rng.random(), side="right"))
        length = int(self.lengths[bucket])
        chosen = rng.integers(self.counts[bucket], size=max(1, self.budget // length))
        return read_lines(self.stream, self.order[self.first[bucket] + chosen], length)


def line_lengths(stream: TokenStream, longest: int) -> NDArray[np.int64]:
    """Return the length of each line's sequence: its tokens plus `</s>` before and after, at most `longest`."""
    lengths: NDArray[np.int64] = np.minimum(np.diff(stream.starts) + 1, longest)
    return lengths


def read_lines(stream: TokenStream, numbers: NDArray[np.int64], length: int) -> Ids:
    """Return the lines as sequences of `length` tokens, each beginning with `</s>`."""
    tokens = np.empty((len(numbers), length), dtype=np.int64)
    tokens[:, 0] = END
    tokens[:, 1:] = stream.at(stream.starts[numbers][:, None] + np.arange(length - 1))
    return tokens


def language_chances(amounts: Sequence[int], exponent: float) -> NDArray[np.float64]:
    """Return the sampling probability of each language, proportional to share ** exponent (0.7 in the paper)."""
    shares = np.asarray(amounts, dtype=np.float64) / sum(amounts)
    chances = shares**exponent
    return np.asarray(chances / chances.sum())


class Masked(NamedTuple):
    """A masked batch: the input ids (n, s), the flat positions to predict, and the original ids at those positions."""

    inputs: Ids
    picks: Ids
    targets: Ids


def mask_tokens(
    tokens: Ids, rng: np.random.Generator, settings: Pretrain, words: Ids, ends_stay: bool = False
) -> Masked:
    """Select each token independently with probability `mask_rate`, then mask, replace or keep it.

    The first token of a sequence is never selected. With `ends_stay`, no `</s>` is selected. Models that restart
    positions after each `</s>` need this: masking one would change the positions of the tokens after it.

    One uniform draw per token decides both steps: if a draw is below the rate, then draw / rate is again uniform.
    """
    draws = _draw(tokens, rng, ends_stay)
    picks = np.flatnonzero(draws < settings.mask_rate)
    if not len(picks):  # possible in a tiny batch; the mean loss over zero predictions would be NaN
        picks = rng.integers(tokens.shape[0], size=1) * tokens.shape[1] + rng.integers(1, tokens.shape[1])
    picks = picks[: capacity(tokens.size, settings.mask_rate)]
    fate = draws.ravel()[picks] / settings.mask_rate
    inputs, targets = tokens.copy(), tokens.ravel()[picks]
    replaced = picks[(fate >= settings.mask_share) & (fate < settings.mask_share + settings.random_share)]
    flat = inputs.reshape(-1)
    flat[picks[fate < settings.mask_share]] = MASK
    flat[replaced] = words[rng.integers(len(words), size=len(replaced))]
    return Masked(inputs, picks, targets)


def mask_fixed(tokens: Ids, rng: np.random.Generator, rate: float, ends_stay: bool = False) -> Masked:
    """Select tokens as in training and replace all of them with `<mask>`; used for validation."""
    picks = np.flatnonzero(_draw(tokens, rng, ends_stay) < rate)
    inputs, targets = tokens.copy(), tokens.ravel()[picks]
    inputs.reshape(-1)[picks] = MASK
    return Masked(inputs, picks, targets)


def _draw(tokens: Ids, rng: np.random.Generator, ends_stay: bool) -> NDArray[np.float64]:
    """Return a uniform random number for each token, or 1 if the token is never predicted."""
    draws = rng.random(tokens.shape)
    draws[:, 0] = 1.0
    if ends_stay:
        draws[tokens == END] = 1.0
    return draws


def capacity(tokens: int, rate: float) -> int:
    """Return the number of prediction slots of a batch: at least six standard deviations above the expected number.

    Compiled training steps and CUDA graphs need fixed shapes. Fewer than one batch in 10^9 has more predictions than
    slots; the surplus is dropped. No batch has more slots than tokens.
    """
    most = tokens * rate + 6 * math.sqrt(tokens * rate * (1 - rate)) + 8
    return min(tokens, rounded(math.ceil(most), 8))


def random_words(run: Run, size: int, stream: TokenStream) -> Ids:
    """Return the ids that random replacements are drawn from: all of the vocabulary, or only those of one language.

    The config key `pretrain.random_words` decides. If each language has its own softmax, all ids of its vocabulary
    belong to it; otherwise a language's ids are those that occur in its training text.
    """
    if run.pretrain.random_words == "language" and run.softmax == "shared":
        return np.flatnonzero(stream.counts(size)[SPECIAL:]) + SPECIAL
    return np.arange(SPECIAL, size)


def make_batch(masked: Masked, language: int, seed: int, places: int | None = None) -> Batch:
    """Pack a masked batch into one contiguous array, padding the predictions to `places` if given."""
    n, s = masked.inputs.shape
    size, places = n * s, len(masked.picks) if places is None else places
    packed = np.empty(2 * size + 2 * places, dtype=np.int64)
    packed[:size] = masked.inputs.ravel()
    packed[size : 2 * size] = places
    packed[size + masked.picks] = np.arange(len(masked.picks))
    packed[2 * size : 2 * size + places] = 0
    packed[2 * size + places :] = IGNORED
    packed[2 * size : 2 * size + len(masked.picks)] = masked.picks
    packed[2 * size + places : 2 * size + places + len(masked.picks)] = masked.targets
    return unpack(torch.from_numpy(packed), language, seed, n, s)


def unpack(packed: Tensor, language: int, seed: int, n: int, s: int) -> Batch:
    """Return the tensors of a packed batch as views."""
    places = (len(packed) - 2 * n * s) // 2
    tokens, inverse, picks, targets = torch.split(packed, [n * s, n * s, places, places])
    return Batch(language, seed, tokens.view(n, s), inverse, picks, targets, packed)


class Batches:
    """All training batches of a run, by update and micro-batch.

    `tables` maps, for each language, the piece ids of its token stream to ids of the vocabulary; without a table, piece
    ids are used unchanged.
    """

    def __init__(self, run: Run, folders: Mapping[str, Path], sizes: Mapping[str, int], tables: Tables) -> None:
        self.run, settings = run, run.pretrain
        kind = StreamSampler if settings.sequences == "streams" else LineSampler
        self.samplers: list[Sampler] = []
        self.words: list[Ids] = []  # per language: the ids that may replace a token
        amounts = []
        for code in run.languages:
            stream = TokenStream(folders[code], "train", tables.get(code))
            self.samplers.append(kind(stream, folders[code], settings.length, settings.micro_batch_tokens))
            self.words.append(random_words(run, sizes[code], stream))
            # The paper measures text in lines.
            amounts.append({"lines": stream.lines, "tokens": len(stream), "even": 1}[settings.language_share])
        self.bounds = np.cumsum(language_chances(amounts, settings.language_exponent))[:-1]

    def languages(self, update: int) -> list[int]:
        """Return the language of each micro-batch of an update.

        Stratified draws are evenly spaced from one random start, so the number of micro-batches of a language in an
        update differs from its expectation by less than one.
        """
        rng, count = numpy_rng("languages", self.run.seed, update), self.run.pretrain.micro_batches
        stratified = self.run.pretrain.language_draws == "stratified"
        draws = (rng.random() + np.arange(count)) / count if stratified else rng.random(count)
        return [int(i) for i in np.searchsorted(self.bounds, draws, side="right")]

    def batch(self, update: int, micro: int, language: int, places: int | None = None) -> Batch:
        """Return one micro-batch, masked."""
        rng = numpy_rng("batch", self.run.seed, update, micro)
        tokens = self.samplers[language](rng)
        masked = mask_tokens(tokens, rng, self.run.pretrain, self.words[language], self.run.shape.sentences > 0)
        return make_batch(masked, language, derive_seed("dropout", self.run.seed, update, micro), places)
