"""Vocabularies of one or two languages (the settings of Table 1): which piece of which language has which id.

mono, joint  one sentencepiece model; its ids are the model's.
union        a model a language; pieces with the same string share an id (Default anchors, Sep L1-3, Sep L1-6).
prefixed     a model a language; every piece but the special tokens has an id of its own (No anchors).
separate     a model a language; each has an id space of its own from 0 (Sep Emb). `size` is then the larger one,
             and pieces.txt holds the languages one after another.

python -m xling.bpe.vocabulary --kind union --model en=en.model --model fr=fr.model --out vocab/
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from xling.bpe.train import SPECIAL_TOKENS
from xling.core.cli import named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.io import atomic_path, read_json, sha256_of, write_json, write_text
from xling.core.log import log_to_stderr

KINDS = ("mono", "joint", "union", "prefixed", "separate")
CACHE_WORDS = 1 << 19
UNKNOWN = SPECIAL_TOKENS.index("<unk>")
Ids = NDArray[np.int32]


class Vocabulary:
    """Encodes tokenised text of its languages into model ids."""

    def __init__(self, kind: str, models: dict[str, bytes], ids: dict[str, Ids], size: int) -> None:
        self.kind, self.languages, self.size = kind, tuple(models), size
        self._ids = ids
        self._encoders = {language: WordEncoder(models[language], ids[language]) for language in models}

    @classmethod
    def load(cls, directory: Path) -> "Vocabulary":
        """Read a vocabulary directory."""
        described = read_json(directory / "vocab.json")
        try:
            parts = described["languages"]
            models = {language: (directory / part["model"]).read_bytes() for language, part in parts.items()}
            ids = {language: np.load(directory / part["ids"]) for language, part in parts.items()}
            return cls(described["kind"], models, ids, described["size"])
        except (KeyError, TypeError) as error:
            raise InputError(directory / "vocab.json", f"{error} missing", fix="make the vocabulary again") from None

    def encode_line(self, language: str, text: str) -> list[int]:
        """Return the ids of a tokenised line, without special tokens."""
        return self.encode_words(language, text.split())

    def encode_words(self, language: str, words: Sequence[str]) -> list[int]:
        """Return the ids of words, one after another."""
        encoder = self._encoder(language)
        return [number for word in words for number in encoder[word]]

    def word_pieces(self, language: str, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the ids of words and where each word's first subword is among them."""
        encoder = self._encoder(language)
        ids: list[int] = []
        firsts: list[int] = []
        for word in words:
            firsts.append(len(ids))
            ids.extend(encoder[word])
        return ids, firsts

    def decode(self, language: str, ids: Sequence[int]) -> str:
        """Return the text of ids of a language."""
        return self._encoder(language).decode(ids)

    def pieces(self, language: str) -> list[str]:
        """Return the pieces of a language; the k-th has the model id `ids(language)[k]`."""
        return self._encoder(language).pieces

    def ids(self, language: str) -> Ids:
        """Return the model id of each piece of a language."""
        self._encoder(language)
        return self._ids[language]

    def own_ids(self, language: str) -> Ids:
        """Return the ids of a language's pieces, sorted, without special tokens: its random words."""
        return np.unique(self.ids(language)[len(SPECIAL_TOKENS) :])

    def size_of(self, language: str) -> int:
        """Return how many embeddings a language looks its ids up in."""
        return len(self.ids(language)) if self.kind == "separate" else self.size

    def _encoder(self, language: str) -> "WordEncoder":
        if language not in self._encoders:
            raise XlingError(f"the vocabulary has no language {language!r} (it has {', '.join(self.languages)})")
        return self._encoders[language]


class WordEncoder(dict[str, tuple[int, ...]]):
    """Remembers the ids of words: pieces never cross a space, so a line is its words one after another."""

    def __init__(self, model: bytes, ids: Ids) -> None:
        super().__init__()
        self._model = sentencepiece.SentencePieceProcessor(model_proto=model)
        self._to_model: list[int] = ids.tolist()
        self._from_model = {number: piece for piece, number in enumerate(self._to_model)}
        self.pieces = [self._model.id_to_piece(i) for i in range(len(self._model))]
        if len(self.pieces) != len(self._to_model):
            raise XlingError(f"{len(self.pieces)} pieces but {len(self._to_model)} ids: make the vocabulary again")

    def __missing__(self, word: str) -> tuple[int, ...]:
        if not word or word.isspace():
            raise XlingError(f"{word!r} is no word: words must be neither empty nor white space")
        pieces = self._model.encode(word) or [UNKNOWN]  # sentencepiece takes its own mark of a word start for a space
        ids = tuple(self._to_model[piece] for piece in pieces)
        if len(self) >= CACHE_WORDS:
            self.clear()
        self[word] = ids
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids."""
        return str(self._model.decode([self._from_model[number] for number in ids]))


def assign_ids(kind: str, pieces: dict[str, list[str]]) -> tuple[dict[str, Ids], int, list[str]]:
    """Return each language's ids, the size of the id space and the names of all entries in order."""
    if kind in ("mono", "joint", "separate"):
        ids = {language: np.arange(len(own), dtype=np.int32) for language, own in pieces.items()}
        spaces = pieces if kind == "separate" else dict([next(iter(pieces.items()))])
        return ids, max(map(len, pieces.values())), [piece for own in spaces.values() for piece in own]
    numbers: dict[str, int] = {}
    ids = {}
    for language, own in pieces.items():
        prefix = f"{language}:" if kind == "prefixed" else ""
        names = [*own[: len(SPECIAL_TOKENS)], *(prefix + piece for piece in own[len(SPECIAL_TOKENS) :])]
        ids[language] = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int32)
    return ids, len(numbers), list(numbers)


def write_vocabulary(kind: str, models: dict[str, Path], out: Path) -> dict[str, Any]:
    """Write a vocabulary directory, vocab.json last, and return what vocab.json says."""
    check_models(kind, models)
    pieces = {language: read_pieces(path) for language, path in models.items()}
    ids, size, names = assign_ids(kind, pieces)
    parts: dict[str, Any] = {}
    for language, path in models.items():
        model = "joint.model" if kind == "joint" else f"{language}.model"
        parts[language] = {"model": model, "ids": f"{language}.ids.npy", "size": len(pieces[language])}
        with atomic_path(out / model) as temporary:
            temporary.write_bytes(path.read_bytes())
        with atomic_path(out / parts[language]["ids"]) as temporary, temporary.open("wb") as handle:
            np.save(handle, ids[language])
    with write_text(out / "pieces.txt") as text:
        text.writelines(f"{name}\n" for name in names)
    described = {"kind": kind, "languages": parts, "size": size, "pieces": "pieces.txt"}
    write_json(out / "vocab.json", described)
    return described


def check_models(kind: str, models: dict[str, Path]) -> None:
    """Refuse a number of languages that the kind cannot have, and different models under joint."""
    expected = 1 if kind == "mono" else 2
    if len(models) != expected:
        raise XlingError(f"a {kind} vocabulary has {expected} language(s), {len(models)} given: {', '.join(models)}")
    if kind == "joint" and len({sha256_of(path) for path in models.values()}) > 1:
        raise XlingError("a joint vocabulary has one model for both languages, two different ones given")


def read_pieces(path: Path) -> list[str]:
    """Return the pieces of a sentencepiece model, which must start with the study's special tokens."""
    model = sentencepiece.SentencePieceProcessor()
    try:
        model.load_from_serialized_proto(path.read_bytes())
    except RuntimeError:
        raise InputError(path, "not a sentencepiece model", fix="train it with xling.bpe.train") from None
    pieces = [model.id_to_piece(i) for i in range(len(model))]
    if tuple(pieces[: len(SPECIAL_TOKENS)]) != SPECIAL_TOKENS:
        raise InputError(path, f"must start with {', '.join(SPECIAL_TOKENS)}", fix="train it with xling.bpe.train")
    return pieces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--model", action="append", required=True, help="LANGUAGE=sentencepiece model")
    parser.add_argument("--out", type=Path, required=True, help="folder")
    args = parser.parse_args()
    described = write_vocabulary(args.kind, named_paths(args.model, "--model"), args.out)
    log_to_stderr(__name__).info("%s vocabulary of %d entries in %s", args.kind, described["size"], args.out)


if __name__ == "__main__":
    run(main)
