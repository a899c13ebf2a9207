"""Vocabularies of one or two languages (the settings of Table 1): the id of each piece (subword) of each language.

mono, joint  one sentencepiece model; ids are those of the model.
union        one model per language; pieces with the same string share an id (Default anchors, Sep L1-3, Sep L1-6).
prefixed     one model per language; only special tokens are shared, every other piece has its own id (No anchors).
separate     one model per language; each language has its own id space from 0 (Sep Emb). `size` is the size of the
             larger space, and pieces.txt lists the pieces of one language after the other.
"""

from collections.abc import Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from xling.bpe.train_bpe import SPECIAL_TOKENS
from xling.core.errors import InputError, XlingError
from xling.core.io import check_seal, read_json

KINDS = ("mono", "joint", "union", "prefixed", "separate")
CACHE_WORDS = 1 << 19
UNKNOWN = SPECIAL_TOKENS.index("<unk>")
AGAIN = "make the vocabulary again"
Ids = NDArray[np.int32]
Model = sentencepiece.SentencePieceProcessor


def read_parts(directory: Path) -> tuple[dict[str, Any], dict[str, Path], dict[str, Ids]]:
    """Return the content of vocab.json and, for each language, the path of its model and the ids of its pieces."""
    path = directory / "vocab.json"
    about: dict[str, Any] = read_json(path)
    try:
        models = {code: directory / part["model"] for code, part in about["languages"].items()}
        ids = {code: _read_ids(directory / part["ids"]) for code, part in about["languages"].items()}
        sizes = {code: len(own) if about["kind"] == "separate" else about["size"] for code, own in ids.items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(path, f"{error} missing", fix=AGAIN) from None
    for code, own in ids.items():
        if own.min() < 0 or own.max() >= sizes[code]:
            problem = f"{code} has ids from {own.min()} to {own.max()}, but only {sizes[code]} are allowed"
            raise InputError(path, problem, fix=AGAIN)
    return about, models, ids


def read_model(path: Path) -> Model:
    """Read a sentencepiece model, which must start with the study's special tokens."""
    check_seal(path)
    model, fix = sentencepiece.SentencePieceProcessor(), "train it with xling.bpe.train_bpe"
    try:
        model.load_from_serialized_proto(path.read_bytes())
        pieces = pieces_of(model)
    except (RuntimeError, UnicodeDecodeError):
        raise InputError(path, "not a sentencepiece model", fix=fix) from None
    if tuple(pieces[: len(SPECIAL_TOKENS)]) != SPECIAL_TOKENS:
        raise InputError(path, f"must start with {', '.join(SPECIAL_TOKENS)}", fix=fix)
    return model


def pieces_of(model: Model) -> list[str]:
    """Return the pieces of a sentencepiece model in the order of their ids."""
    return [model.id_to_piece(i) for i in range(len(model))]


def _read_ids(path: Path) -> Ids:
    check_seal(path)
    try:
        ids: Ids = np.load(path)
    except Exception as error:  # numpy parses the header as Python, so damage raises many kinds
        raise InputError(path, f"not an array of ids: {error}", fix=AGAIN) from None
    if ids.ndim != 1 or ids.dtype != np.int32 or not len(ids):
        raise InputError(path, f"{ids.dtype} of shape {ids.shape}, expected a list of int32", fix=AGAIN)
    return ids


class Vocabulary:
    """Encodes tokenised text of its languages into vocabulary ids."""

    def __init__(self, kind: str, models: dict[str, Model], ids: dict[str, Ids], size: int) -> None:
        self.kind, self.languages, self.size = kind, tuple(models), size
        self._encoders = {language: WordEncoder(models[language], ids[language]) for language in models}

    @classmethod
    def load(cls, directory: Path) -> "Vocabulary":
        """Read a vocabulary directory."""
        about, models, ids = read_parts(directory)
        return cls(about["kind"], {code: read_model(path) for code, path in models.items()}, ids, about["size"])

    def of_pieces(self, language: str) -> "Vocabulary":
        """Return a vocabulary of one language with the ids of its sentencepiece model, as used in token streams."""
        model, pieces = self._encoder(language).model, np.arange(len(self.pieces(language)), dtype=np.int32)
        return Vocabulary("mono", {language: model}, {language: pieces}, len(pieces))

    def encode_line(self, language: str, text: str) -> list[int]:
        """Return the ids of a tokenised line, without special tokens."""
        return self.encode_words(language, text.split())

    def encode_words(self, language: str, words: Sequence[str]) -> list[int]:
        """Return the concatenated ids of words."""
        return self.word_pieces(language, words)[0]

    def word_pieces(self, language: str, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the concatenated ids of words, and the index of the first subword of each word."""
        parts = list(map(self._encoder(language).__getitem__, words))
        return list(chain.from_iterable(parts)), list(accumulate(map(len, parts), initial=0))[:-1]

    def pieces(self, language: str) -> list[str]:
        """Return the pieces of a language; the k-th piece has the vocabulary id `ids(language)[k]`."""
        return self._encoder(language).pieces

    def ids(self, language: str) -> Ids:
        """Return the vocabulary id of each piece of a language."""
        return self._encoder(language).ids

    def own_ids(self, language: str) -> Ids:
        """Return the sorted ids of a language's pieces without special tokens."""
        return np.unique(self.ids(language)[len(SPECIAL_TOKENS) :])

    def size_of(self, language: str) -> int:
        """Return the number of rows in the embedding table of a language."""
        return len(self.ids(language)) if self.kind == "separate" else self.size

    def _encoder(self, language: str) -> "WordEncoder":
        if language not in self._encoders:
            raise XlingError(f"the vocabulary has no language {language!r} (it has {', '.join(self.languages)})")
        return self._encoders[language]


class WordEncoder(dict[str, tuple[int, ...]]):
    """A cache of the ids of words; pieces never cross a space, so the ids of a line are those of its words."""

    def __init__(self, model: Model, ids: Ids) -> None:
        super().__init__()
        self.model, self.pieces, self.ids = model, pieces_of(model), ids
        self._numbers: list[int] = ids.tolist()
        if len(self.pieces) != len(ids):
            raise XlingError(f"{len(self.pieces)} pieces but {len(ids)} ids: {AGAIN}")

    def __missing__(self, word: str) -> tuple[int, ...]:
        if not word or word.isspace():
            raise XlingError(f"{word!r} is no word: words must be neither empty nor white space")
        pieces = self.model.encode(word) or [UNKNOWN]  # empty for U+2581, which sentencepiece reads as a space
        ids = tuple(self._numbers[piece] for piece in pieces)
        if len(self) >= CACHE_WORDS:
            self.clear()
        self[word] = ids
        return ids
