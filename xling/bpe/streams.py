"""Token streams: an encoded text on disk as a flat array of ids with an index of its lines, read through a memory map.

A directory holds two files per split: `<split>.bin`, the ids of each line followed by `</s>` (little-endian uint16, or
uint32 if there are more than 2^17 pieces), and `<split>.idx`, the start position of each line, then the total number of
ids (little-endian int64). With more than 2^16 and up to 2^17 pieces, as in the paper's joint vocabularies, there is a
third file: `<split>.bin` holds the lower 16 bits of each id and `<split>.top` the highest bit, packed eight ids to a
byte, with the first id in the byte's lowest bit.
One `meta.json` per directory is written last; it holds the sha256 of these files, which `TokenStream` checks.
The ids are those of the pieces (subwords) of the sentencepiece model; `vocab_size` is the number of pieces. Each
vocabulary assigns its own ids to the pieces, so callers pass `table`, which maps piece ids to vocabulary ids: one
stream serves every vocabulary that is built from the same model.
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import InputError
from xling.core.io import known_sha256, read_json, sha256_of, write_json

UNKNOWN, END = 1, 2  # <unk> and </s> in every model and every vocabulary
SPECIAL = 4  # ids below this one are special: <pad>, <unk>, </s>, <mask>
INDEX = np.dtype("<i8")
AGAIN = "encode the text again (rule encode_text)"
TYPES: dict[str, np.dtype[Any]] = {"uint16": np.dtype("<u2"), "uint17": np.dtype("<u2"), "uint32": np.dtype("<u4")}
BYTE = np.dtype("u1")
BLOCK = 1 << 22  # number of ids that `counts` reads at a time

Ids = NDArray[np.integer[Any]]


def pack(lines: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Join lines of ids with `</s>` after each line; return the ids and the length of each line including `</s>`."""
    lengths = np.fromiter((len(line) + 1 for line in lines), dtype=np.int64, count=len(lines))
    joined = chain.from_iterable(chain.from_iterable((line, (END,)) for line in lines))
    return np.fromiter(joined, dtype=np.int32, count=int(lengths.sum())), lengths


class TokenStreamWriter:
    """Writes the splits of one language in one pass; the files appear in the directory only when all are complete."""

    def __init__(self, directory: Path, vocab_size: int, language: str) -> None:
        self.directory, self.vocab_size = Path(directory), vocab_size
        self.dtype = next(name for name in TYPES if vocab_size <= 1 << int(name.removeprefix("uint")))  # the narrowest
        self.meta = {"dtype": self.dtype, "vocab_size": vocab_size, "language": language}
        self.sizes: dict[str, dict[str, int]] = {}  # lines, tokens and unknown tokens of each split
        self._files: dict[str, BinaryIO] = {}
        self._rest: dict[str, NDArray[np.uint8]] = {}  # highest bits of ids that do not fill a byte yet

    def __enter__(self) -> "TokenStreamWriter":
        self.directory.mkdir(parents=True, exist_ok=True)
        self._temporary = Path(tempfile.mkdtemp(prefix=".streams.", dir=self.directory))
        return self

    def add(self, split: str, ids: Ids, lengths: Ids) -> None:
        """Append packed lines to a split; raise an error for an id that the model lacks or a line without `</s>`."""
        if len(ids) and not (ids.min() >= 0 and ids.max() < self.vocab_size):
            raise ValueError(f"ids range from {ids.min()} to {ids.max()}, but the model has {self.vocab_size} pieces")
        if len(ids) != np.sum(lengths) or np.any(ids[np.cumsum(lengths) - 1] != END):
            raise ValueError("lengths and ids disagree: every line must end with </s>")
        sizes = self.sizes.setdefault(split, {"lines": 0, "tokens": 0, "unknown": 0})
        self._write(f"{split}.bin", ids.astype(TYPES[self.dtype]))
        self._write(f"{split}.idx", (sizes["tokens"] + np.cumsum(lengths, dtype=np.int64) - lengths).astype(INDEX))
        if self.dtype == "uint17":
            bits = np.concatenate([self._rest.get(split, np.empty(0, BYTE)), (ids >> 16).astype(BYTE)])
            whole = len(bits) // 8 * 8
            self._write(f"{split}.top", np.packbits(bits[:whole], bitorder="little"))
            self._rest[split] = bits[whole:]
        sizes["lines"] += len(lengths)
        sizes["tokens"] += len(ids)
        sizes["unknown"] += int(np.count_nonzero(ids == UNKNOWN))

    def _write(self, name: str, values: Ids) -> None:
        if name not in self._files:
            self._files[name] = (self._temporary / name).open("wb")
        self._files[name].write(values.tobytes())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            for handle in self._files.values():  # on a full disk closing fails too; report the first error
                with suppress(OSError):
                    handle.close()
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _finish(self) -> None:
        for split, sizes in self.sizes.items():
            self._write(f"{split}.idx", np.array([sizes["tokens"]], dtype=INDEX))
        for split, rest in self._rest.items():
            self._write(f"{split}.top", np.packbits(rest, bitorder="little"))
        for handle in self._files.values():
            handle.flush()
            os.fsync(handle.fileno())
        hashes = {name: sha256_of(self._temporary / name) for name in self._files}
        splits = {split: {**sizes, "sha256": hashes.pop(f"{split}.bin")} for split, sizes in self.sizes.items()}
        (self.directory / "meta.json").unlink(missing_ok=True)  # without meta.json the folder counts as incomplete
        for name in self._files:
            (self._temporary / name).replace(self.directory / name)
        write_json(self.directory / "meta.json", {**self.meta, "splits": splits, "others": hashes})


class TokenStream:
    """Reads one split through a memory map; positions and `len` count ids, `</s>` included.

    `table` gives the id of each piece in a vocabulary; without it, ids are those of the sentencepiece model.
    """

    def __init__(self, directory: Path, split: str, table: Ids | None = None) -> None:
        folder, path = Path(directory), Path(directory) / "meta.json"
        if not path.is_file():
            raise InputError(path, "file not found: the token streams in this folder are incomplete", fix=AGAIN)
        self.meta: dict[str, Any] = read_json(path)
        try:
            sizes, hashes = self.meta["splits"], dict(self.meta.get("others", {}))
            if split not in sizes:
                raise InputError(path, f"no split {split!r}, only {', '.join(sizes)}")
            dtype = TYPES[self.meta["dtype"]]
            self.lines, self.tokens = int(sizes[split]["lines"]), int(sizes[split]["tokens"])
            hashes[f"{split}.bin"] = str(sizes[split]["sha256"])
        except (KeyError, TypeError, ValueError, AttributeError):
            problem = f"expected splits with lines, tokens and sha256, and one of the dtypes {', '.join(TYPES)}"
            raise InputError(path, problem, fix=AGAIN) from None
        if table is not None and len(table) != self.meta.get("vocab_size"):
            found = self.meta.get("vocab_size")
            problem = f"encoded with {found} pieces, but the vocabulary was built from {len(table)}"
            raise InputError(path, problem, fix="encode the text with the model that the vocabulary is built from")
        same = table is None or np.array_equal(table, np.arange(len(table)))  # an identity table needs no lookup
        self.table = None if same else np.asarray(table, dtype=np.int64)

        def mapped(suffix: str, kind: np.dtype[Any], entries: int) -> Ids:
            return _map(folder / f"{split}.{suffix}", kind, entries, hashes.get(f"{split}.{suffix}"))

        self._path = folder / f"{split}.bin"
        self.pieces = mapped("bin", dtype, self.tokens)
        self.starts = mapped("idx", INDEX, self.lines + 1)
        self.has_tops = self.meta["dtype"] == "uint17"
        self.tops = mapped("top", BYTE, -(-self.tokens // 8)) if self.has_tops else np.empty(0, BYTE)

    def __len__(self) -> int:
        return self.tokens

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ids at the given positions, as an array of the same shape."""
        found = self._joined(positions) if self.has_tops else self.pieces[positions]
        return self._in_vocabulary(found).astype(np.int64, copy=False)

    def line(self, number: int) -> Ids:
        """Return the ids of a line (counted from 0) without its `</s>`."""
        if not 0 <= number < self.lines:
            raise IndexError(f"line {number} is out of range: the stream has {self.lines} lines, counted from 0")
        return self.slice(int(self.starts[number]), int(self.starts[number + 1]) - 1)

    def slice(self, start: int, stop: int) -> Ids:
        """Return the ids from `start` up to, but not including, `stop`, across lines."""
        if not 0 <= start <= stop <= self.tokens:
            raise IndexError(f"positions {start} to {stop} are out of range: the stream has {self.tokens} ids")
        return self._in_vocabulary(self._block(start, stop))

    def _in_vocabulary(self, found: Ids) -> Ids:
        try:
            return found if self.table is None else self.table.take(found)
        except IndexError:
            raise self._beyond() from None

    def _beyond(self) -> InputError:
        return InputError(self._path, f"contains an id beyond the model's {self.meta['vocab_size']} pieces", fix=AGAIN)

    def counts(self, size: int) -> NDArray[np.int64]:
        """Return the frequency of each id of a vocabulary with `size` ids."""
        own = np.zeros(int(self.meta["vocab_size"]), dtype=np.int64)
        for start in range(0, self.tokens, BLOCK):
            block = np.bincount(self._block(start, min(start + BLOCK, self.tokens)), minlength=len(own))
            if len(block) > len(own):
                raise self._beyond()
            own += block
        counts = np.zeros(size, dtype=np.int64)
        counts[np.arange(len(own)) if self.table is None else self.table] = own
        return counts

    def _block(self, start: int, stop: int) -> Ids:
        return self._joined(np.arange(start, stop)) if self.has_tops else self.pieces[start:stop]

    def _joined(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the 17-bit ids at the given positions."""
        ids: NDArray[np.int64] = (self.tops[positions >> 3] >> (positions & 7) & 1).astype(np.int64) << 16
        ids |= self.pieces[positions]
        return ids


def _map(path: Path, dtype: np.dtype[Any], entries: int, sha256: str | None) -> Ids:
    expected, found = entries * dtype.itemsize, path.stat().st_size if path.is_file() else 0
    if found != expected:
        raise InputError(
            path, f"{found} bytes, but meta.json says {expected}: missing, truncated or replaced", fix=AGAIN
        )
    if sha256 is not None and sha256 != known_sha256(path):
        raise InputError(path, "damaged: its sha256 is not the one in meta.json", fix=AGAIN)
    if not entries:
        return np.empty(0, dtype)  # an empty file cannot be mapped
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))
