"""How alike the languages have become: retrieval and CKA of parallel sentences by layer (sections 5.1, 5.2)."""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from xling.bpe.streams import END
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import XlingError
from xling.data.parallel import read_aligned
from xling.model.encoder import Encoder
from xling.model.layer_states import layer_states
from xling.model.similarity import linear_cka

MOST_SENTENCES = 1000  # enough to see structure emerge, small beside the training
BATCH_TOKENS = 16384


def read_parallel(files: Mapping[str, Path], vocab: Path, longest: int) -> list[list[list[int]]]:
    """Return for each language the same tokenised sentences as ids, `</s>` at both ends, cut at the longest allowed."""
    vocabulary = Vocabulary.load(vocab)
    sentences: list[list[list[int]]] = [[] for _ in files]
    for row in islice(read_aligned(list(files.values())), MOST_SENTENCES):
        for found, code, text in zip(sentences, files, row, strict=True):
            found.append([END, *vocabulary.encode_line(code, text)[: longest - 2], END])
    return sentences


def sentence_vectors(encoder: Encoder, sentences: Sequence[Sequence[int]], language: int) -> Tensor:
    """Return (layers + 1, sentences, width): the mean state of each sentence's own tokens, special ones left out."""
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    shape, device = encoder.config.shape, next(encoder.parameters()).device
    vectors = torch.empty(shape.layers + 1, len(sentences), shape.width, device=device)
    with torch.no_grad():
        for group in _groups(sentences, order):
            tokens = torch.tensor([list(sentences[i]) for i in group], device=device)
            states = torch.stack(list(layer_states(encoder, tokens, language)))  # (layers + 1, n, s, d)
            inner = states[:, :, 1:-1] if tokens.shape[1] > 2 else states
            vectors[:, torch.tensor(group, device=device)] = inner.mean(dim=2)
    return vectors


def retrieval(left: Tensor, right: Tensor) -> list[float]:
    """Return for each layer the share of left sentences whose nearest right one by cosine is their translation."""
    a, b = functional.normalize(left, dim=-1), functional.normalize(right, dim=-1)
    best = (a @ b.transpose(1, 2)).argmax(dim=-1)
    return [float(x) for x in (best == torch.arange(best.shape[1], device=best.device)).float().mean(dim=1).tolist()]


def structure(encoder: Encoder, sentences: Sequence[Sequence[Sequence[int]]]) -> dict[str, object]:
    """Return retrieval in both directions and CKA, by layer, of the first two languages."""
    codes = encoder.config.languages
    vectors = [sentence_vectors(encoder, sentences[i], i) for i in (0, 1)]
    found = {f"{codes[i]}-{codes[1 - i]}": retrieval(vectors[i], vectors[1 - i]) for i in (0, 1)}
    left, right = (side.cpu().numpy() for side in vectors)
    cka = [_cka(x, y) for x, y in zip(left, right, strict=True)]
    return {"retrieval": found, "cka": cka, "sentences": len(sentences[0])}


def _cka(left: NDArray[np.float32], right: NDArray[np.float32]) -> float | None:
    """Return CKA, or nothing where it is undefined: sentences that only watch must not end a training."""
    try:
        return linear_cka(left, right)
    except XlingError:
        return None


def _groups(sentences: Sequence[Sequence[int]], order: Sequence[int]) -> list[list[int]]:
    groups: list[list[int]] = []
    for i in order:
        full = groups and len(groups[-1]) * len(sentences[i]) >= BATCH_TOKENS
        if not groups or full or len(sentences[groups[-1][0]]) != len(sentences[i]):
            groups.append([])
        groups[-1].append(i)
    return groups
