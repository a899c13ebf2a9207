"""Validation: the loss on held-out text under a fixed mask (docs/choices.md), and the similarity of the languages, as
retrieval and CKA of parallel sentences at each layer (sections 5.1, 5.2).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from xling.bpe.streams import END, TokenStream
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError, XlingError
from xling.core.seeds import numpy_rng
from xling.data.parallel import read_aligned
from xling.model.encoder import Encoder
from xling.model.layers import LossInput, masked_losses
from xling.model.similarity import linear_cka
from xling.pretrain.batches import Batch, Ids, Tables, line_lengths, make_batch, mask_fixed, read_lines, unpack
from xling.pretrain.config import Pretrain, Run
from xling.pretrain.engine import Engine

MOST_SENTENCES = 1000  # enough to see structure emerge, at a small cost compared with training
BATCH_TOKENS = 16384


class Validation:
    """The held-out batches of every language, masked once with a fixed seed per language."""

    def __init__(self, run: Run, folders: Mapping[str, Path], tables: Tables) -> None:
        self.languages, ends_stay = run.languages, run.shape.sentences > 0
        self.batches: list[list[Batch]] = []
        self.entropy: list[float] = []
        for number, code in enumerate(run.languages):
            stream = TokenStream(folders[code], "valid", tables.get(code))
            tokens = list(held_out(stream, folders[code], run.pretrain))
            rng = numpy_rng("validation", code)
            masked = [mask_fixed(block, rng, run.pretrain.mask_rate, ends_stay) for block in tokens]
            self.batches.append([make_batch(block, number, 0) for block in masked if len(block.picks)])
            self.entropy.append(unigram_entropy(tokens, ends_stay))
            if not self.batches[-1]:
                raise InputError(folders[code], "the validation text is too short to mask a token of it")

    def losses(self, engine: Engine) -> list[float]:
        """Return the mean loss of each language over its predicted tokens, in nats."""
        found, shape = [], engine.encoder.config.shape
        for (path, _), (table, _), batches in zip(engine.paths, engine.tables, self.batches, strict=True):
            total = torch.zeros((), device=engine.device, dtype=torch.float64)
            for batch in batches:
                batch = unpack(batch.packed.to(engine.device), batch.language, 0, *batch.tokens.shape)
                masked = LossInput(table[batch.tokens], batch.picks, batch.inverse, batch.targets, None, batch.tokens)
                with torch.no_grad():
                    (loss,) = masked_losses([path], [masked], shape, 0, tied=True, training=False)
                total += loss.double() * len(batch.picks)
            found.append(float(total.item()) / sum(len(batch.picks) for batch in batches))
        return found


def held_out(stream: TokenStream, where: Path, settings: Pretrain) -> Iterator[Ids]:
    """Yield blocks (n, s) of about the first `validation_tokens` tokens; lines are grouped by length."""
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
    """Return the entropy in nats of the tokens that may be predicted: the loss if only frequencies are known."""
    tokens = np.concatenate([block[:, 1:].ravel() for block in blocks])
    counts = np.unique(tokens[tokens != END] if ends_stay else tokens, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def perplexity(loss: float) -> float:
    """Return the perplexity of a loss; very large losses are capped to keep it finite."""
    return math.exp(min(loss, 700.0))


def read_parallel(files: Mapping[str, Path], vocab: Path, longest: int) -> list[list[list[int]]]:
    """Return the ids of parallel sentences for each language, with `</s>` at both ends, cut to `longest` tokens."""
    vocabulary = Vocabulary.load(vocab)
    sentences: list[list[list[int]]] = [[] for _ in files]
    for row in islice(read_aligned(list(files.values())), MOST_SENTENCES):
        for found, code, text in zip(sentences, files, row, strict=True):
            found.append([END, *vocabulary.encode_line(code, text)[: longest - 2], END])
    return sentences


def sentence_vectors(encoder: Encoder, sentences: Sequence[Sequence[int]], language: int) -> Tensor:
    """Return the mean hidden state of each sentence without special tokens: (layers + 1, sentences, width)."""
    lengths = np.array([len(ids) for ids in sentences])
    shape, device = encoder.config.shape, next(encoder.parameters()).device
    vectors = torch.empty(shape.layers + 1, len(sentences), shape.width, device=device)
    for length in np.unique(lengths):
        same, step = np.flatnonzero(lengths == length), -(-BATCH_TOKENS // int(length))
        for start in range(0, len(same), step):
            group = same[start : start + step]
            tokens = torch.tensor([list(sentences[i]) for i in group], device=device)
            states = torch.stack(list(encoder.layer_states(tokens, language)))  # (layers + 1, n, s, d)
            inner = states[:, :, 1:-1] if length > 2 else states
            vectors[:, torch.from_numpy(group).to(device)] = inner.mean(dim=2)
    return vectors


def retrieval(left: Tensor, right: Tensor) -> list[float]:
    """Return for each layer the share of left sentences whose nearest right sentence by cosine is the translation."""
    a, b = functional.normalize(left, dim=-1), functional.normalize(right, dim=-1)
    best = (a @ b.transpose(1, 2)).argmax(dim=-1)
    return [float(x) for x in (best == torch.arange(best.shape[1], device=best.device)).float().mean(dim=1).tolist()]


def structure(encoder: Encoder, sentences: Sequence[Sequence[Sequence[int]]]) -> dict[str, object]:
    """Return, for the first two languages and each layer, retrieval accuracy in both directions and CKA."""
    codes = encoder.config.languages
    vectors = [sentence_vectors(encoder, sentences[i], i) for i in (0, 1)]
    found = {f"{codes[i]}-{codes[1 - i]}": retrieval(vectors[i], vectors[1 - i]) for i in (0, 1)}
    left, right = (side.cpu().numpy() for side in vectors)
    cka = [_cka(x, y) for x, y in zip(left, right, strict=True)]
    return {"retrieval": found, "cka": cka, "sentences": len(sentences[0])}


def _cka(left: NDArray[np.float32], right: NDArray[np.float32]) -> float | None:
    """Return CKA, or None if it is undefined: monitoring must not stop training."""
    try:
        return linear_cka(left, right)
    except XlingError:
        return None
