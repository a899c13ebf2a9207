"""Which tokens are predicted and what the model sees in their place (section 3.1 of the paper)."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xling.bpe.streams import END, TokenStream
from xling.pretrain.config import Pretrain, Run

MASK = 3  # the id of <mask> in every vocabulary
SPECIAL = 4  # ids below this one are special: <pad>, <unk>, </s>, <mask>
IGNORED = -100  # target value that the loss skips: cross_entropy's default ignore_index

Ids = NDArray[np.int64]


class Masked(NamedTuple):
    """A masked batch: the input ids (n, s), the flat positions to predict, and the original ids at those positions."""

    inputs: Ids
    picks: Ids
    targets: Ids


def mask_tokens(
    tokens: Ids, rng: np.random.Generator, settings: Pretrain, words: Ids, ends_stay: bool = False
) -> Masked:
    """Select each token independently with probability `mask_rate`, then mask, replace or keep it.

    The first token of a sequence is never selected. With `ends_stay`, `</s>` is never selected either: positions
    restart after it, so hiding it would change the positions of the tokens that follow.

    One uniform draw per token decides both steps: if a draw is below the rate, then draw / rate is again uniform.
    """
    draws = _draw(tokens, rng, ends_stay)
    picks = np.flatnonzero(draws < settings.mask_rate)
    if not len(picks):  # possible in a tiny batch; the mean loss of no predictions would be NaN
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
    """Return a uniform number for each token, 1 for those that are never predicted."""
    draws = rng.random(tokens.shape)
    draws[:, 0] = 1.0
    if ends_stay:
        draws[tokens == END] = 1.0
    return draws


def capacity(tokens: int, rate: float) -> int:
    """Return the number of prediction slots of a batch: the expected number plus six standard deviations.

    Compiled training steps and CUDA graphs need fixed shapes. About one batch in 10^9 has more predictions than slots;
    the surplus is dropped.
    """
    most = tokens * rate + 6 * math.sqrt(tokens * rate * (1 - rate)) + 8
    return min(tokens, -(-math.ceil(most) // 8) * 8)


def random_words(run: Run, size: int, stream: TokenStream) -> Ids:
    """Return the ids that may replace a token: the whole vocabulary, or those of the language (`random_words`).

    With one softmax per language, every id belongs to the language. Otherwise its ids are those that occur in its
    training text.
    """
    if run.pretrain.random_words == "language" and run.softmax == "shared":
        return np.flatnonzero(stream.counts(size)[SPECIAL:]) + SPECIAL
    return np.arange(SPECIAL, size)
