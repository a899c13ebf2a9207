"""Which tokens are predicted and what the model sees in their place (section 3.1 of the paper)."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xling.bpe.streams import END, TokenStream
from xling.pretrain.config import Pretrain, Run

MASK = 3  # the id of <mask> in every vocabulary
SPECIAL = 4  # ids below are <pad>, <unk>, </s>, <mask>
IGNORED = -100  # a target that counts for nothing, cross_entropy's default

Ids = NDArray[np.int64]


class Masked(NamedTuple):
    """What the model reads (n, s), and the flat positions it predicts with the words that stood there."""

    inputs: Ids
    picks: Ids
    targets: Ids


def mask_tokens(
    tokens: Ids, rng: np.random.Generator, settings: Pretrain, words: Ids, ends_stay: bool = False
) -> Masked:
    """Choose tokens one by one with the mask rate, then mask, replace or keep each; never a sequence's first.

    Where positions start anew after `</s>`, it is never chosen: without it they would be others.

    One uniform number a token decides both: divided by the rate it is uniform again among the chosen.
    """
    draws = _draw(tokens, rng, ends_stay)
    picks = np.flatnonzero(draws < settings.mask_rate)
    if not len(picks):  # a tiny batch; a mean over nothing would be NaN
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
    """Choose tokens as in training but always show `<mask>`: the validation mask."""
    picks = np.flatnonzero(_draw(tokens, rng, ends_stay) < rate)
    inputs, targets = tokens.copy(), tokens.ravel()[picks]
    inputs.reshape(-1)[picks] = MASK
    return Masked(inputs, picks, targets)


def _draw(tokens: Ids, rng: np.random.Generator, ends_stay: bool) -> NDArray[np.float64]:
    """Return a uniform number for each token, 1 for those that are never predicted."""
    draws = rng.random(tokens.shape)
    draws[:, 0] = 1.0
    if ends_stay:
        draws[tokens == END] = 1.0
    return draws


def capacity(tokens: int, rate: float) -> int:
    """Return how many predictions a batch has room for: six standard deviations above the mean.

    Compiled and captured training steps need a fixed size. More than fit happen once in 10^9 batches and are left out.
    """
    most = tokens * rate + 6 * math.sqrt(tokens * rate * (1 - rate)) + 8
    return min(tokens, -(-math.ceil(most) // 8) * 8)


def random_words(run: Run, size: int, stream: TokenStream) -> Ids:
    """Return the words that may replace a token: any of the vocabulary, foreign ones too, or the language's own.

    With a softmax per language all ids are the language's; else its words are those seen in its training text.
    """
    if run.pretrain.random_words == "language" and run.softmax == "shared":
        return np.flatnonzero(stream.counts(size)[SPECIAL:]) + SPECIAL
    return np.arange(SPECIAL, size)
