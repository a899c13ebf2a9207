"""Validation: the loss on held-out text under a mask that never changes (docs/choices.md)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from xling.bpe.streams import END, TokenStream
from xling.core.errors import InputError
from xling.core.seeds import numpy_rng
from xling.model.layers import masked_loss
from xling.pretrain.batches import Batch, line_lengths, make_batch, read_lines, unpack
from xling.pretrain.config import Pretrain, Run
from xling.pretrain.engine import Engine
from xling.pretrain.masking import Ids, mask_fixed


class Validation:
    """The held-out batches of every language, masked once and for all with a seed of their own."""

    def __init__(self, run: Run, folders: Mapping[str, Path]) -> None:
        self.languages, ends_stay = run.languages, run.shape.sentences > 0
        self.batches: list[list[Batch]] = []
        self.entropy: list[float] = []
        for number, code in enumerate(run.languages):
            tokens = list(held_out(TokenStream(folders[code], "valid"), folders[code], run.pretrain))
            rng = numpy_rng("validation", code)
            masked = [mask_fixed(block, rng, run.pretrain.mask_rate, ends_stay) for block in tokens]
            self.batches.append([make_batch(block, number, 0) for block in masked if len(block.picks)])
            self.entropy.append(unigram_entropy(tokens, ends_stay))
            if not self.batches[-1]:
                raise InputError(folders[code], "the validation text is too short to mask a token of it")

    def losses(self, engine: Engine) -> list[float]:
        """Return each language's mean loss over its predicted tokens, in nats."""
        return [_mean_loss(engine, batches) for batches in self.batches]


def held_out(stream: TokenStream, where: Path, settings: Pretrain) -> Iterator[Ids]:
    """Yield blocks (n, s) of the first tokens of the validation text, in its own order."""
    if settings.sequences == "streams":
        length = min(settings.length, len(stream))
        rows = min(len(stream), settings.validation_tokens) // max(length, 1)
        if length < 2:
            raise InputError(where, "no validation text")
        tokens = stream.slice(0, rows * length).astype(np.int64).reshape(rows, length)
        step = max(1, settings.micro_batch_tokens // length)
        yield from (tokens[start : start + step] for start in range(0, rows, step))
        return
    lengths = line_lengths(stream, settings.length)
    lengths = lengths[: int(np.searchsorted(np.cumsum(lengths), settings.validation_tokens)) + 1]
    for length in np.unique(lengths[lengths > 2]):
        numbers, step = np.flatnonzero(lengths == length), max(1, settings.micro_batch_tokens // int(length))
        for start in range(0, len(numbers), step):
            yield read_lines(stream, numbers[start : start + step], int(length))


def unigram_entropy(blocks: Sequence[Ids], ends_stay: bool = False) -> float:
    """Return the entropy in nats of the tokens that may be predicted: what knowing only their frequencies costs."""
    tokens = np.concatenate([block[:, 1:].ravel() for block in blocks])
    counts = np.unique(tokens[tokens != END] if ends_stay else tokens, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def perplexity(loss: float) -> float:
    """Return the perplexity of a loss, finite even for an absurd one."""
    return math.exp(min(loss, 700.0))


def _mean_loss(engine: Engine, batches: Sequence[Batch]) -> float:
    total = torch.zeros((), device=engine.device, dtype=torch.float64)
    count, shape = 0, engine.encoder.config.shape
    with torch.no_grad():
        for batch in batches:
            batch = unpack(batch.packed.to(engine.device), batch.language, 0, *batch.tokens.shape)
            (path, _), rows = engine.paths[batch.language], engine.tables[batch.language][0][batch.tokens]
            loss: Tensor = masked_loss(
                path, rows, batch.picks, batch.inverse, batch.targets, None, shape, training=False, tokens=batch.tokens
            )
            total += loss.double() * len(batch.picks)
            count += len(batch.picks)
    return float(total.item()) / count
