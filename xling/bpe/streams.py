"""Token streams: flat ids of a text on disk with an index of its lines, read through a memory map.

A directory holds for each split `<split>.bin` (little-endian uint16, or uint32 where an id needs it; each line's ids,
then `</s>`) and `<split>.idx` (int64: where each line starts, then the number of ids), and `meta.json`, written last.
"""

import hashlib
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
from xling.core.io import read_json, write_json

UNKNOWN, END = 1, 2  # <unk> and </s> in every vocabulary
INDEX = np.dtype("<i8")
AGAIN = "encode the text again"
TYPES: dict[str, np.dtype[Any]] = {"uint16": np.dtype("<u2"), "uint32": np.dtype("<u4")}

Ids = NDArray[np.integer[Any]]


def dtype_name(vocab_size: int) -> str:
    """Return the narrowest type that holds every id of a vocabulary."""
    return "uint16" if vocab_size <= 1 << 16 else "uint32"


def pack(lines: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Join lines of ids, `</s>` after each, and return the ids and the length of each line with its `</s>`."""
    lengths = np.fromiter((len(line) + 1 for line in lines), dtype=np.int64, count=len(lines))
    joined = chain.from_iterable(chain.from_iterable((line, (END,)) for line in lines))
    return np.fromiter(joined, dtype=np.int32, count=int(lengths.sum())), lengths


class SplitFiles:
    """The two growing files of one split."""

    def __init__(self, folder: Path, split: str, dtype: np.dtype[Any]) -> None:
        self.dtype, self.lines, self.tokens, self.unknown = dtype, 0, 0, 0
        self.hash = hashlib.sha256()  # of the ids: what a training run was made from
        self.ids: BinaryIO = (folder / f"{split}.bin").open("wb")
        self.index: BinaryIO = (folder / f"{split}.idx").open("wb")

    def add(self, ids: Ids, lengths: Ids) -> None:
        """Append lines that were packed."""
        starts = self.tokens + np.cumsum(lengths, dtype=np.int64) - lengths
        written = ids.astype(self.dtype).tobytes()
        self.ids.write(written)
        self.hash.update(written)
        self.index.write(starts.astype(INDEX).tobytes())
        self.lines += len(lengths)
        self.tokens += len(ids)
        self.unknown += int(np.count_nonzero(ids == UNKNOWN))

    def finish(self) -> dict[str, int | str]:
        """Write the last index entry, bring both files to disk and return how much they hold."""
        self.index.write(np.array([self.tokens], dtype=INDEX).tobytes())
        for handle in (self.ids, self.index):
            handle.flush()
            os.fsync(handle.fileno())
        sizes = {"lines": self.lines, "tokens": self.tokens, "unknown": self.unknown}
        return {**sizes, "sha256": self.hash.hexdigest()}

    def close(self) -> None:
        """Close both files; on a full disk closing fails too, and the first error is the one to report."""
        for handle in (self.ids, self.index):
            with suppress(OSError):
                handle.close()


class TokenStreamWriter:
    """Writes the splits of one language in one pass; they appear in the directory only when all are whole."""

    def __init__(self, directory: Path, vocab_size: int, language: str) -> None:
        self.directory, self.vocab_size = Path(directory), vocab_size
        self.meta = {"dtype": dtype_name(vocab_size), "vocab_size": vocab_size, "language": language}
        self.splits: dict[str, SplitFiles] = {}

    def __enter__(self) -> "TokenStreamWriter":
        self.directory.mkdir(parents=True, exist_ok=True)
        self.temporary = Path(tempfile.mkdtemp(prefix=".streams.", dir=self.directory))
        return self

    def add(self, split: str, ids: Ids, lengths: Ids) -> None:
        """Append packed lines to a split; an id outside the vocabulary or a line without `</s>` is refused."""
        if len(ids) and not (ids.min() >= 0 and ids.max() < self.vocab_size):
            raise ValueError(f"ids from {ids.min()} to {ids.max()} do not fit a vocabulary of {self.vocab_size}")
        if len(ids) != np.sum(lengths) or np.any(ids[np.cumsum(lengths) - 1] != END):
            raise ValueError("lengths and ids disagree: every line must end with </s>")
        if split not in self.splits:
            self.splits[split] = SplitFiles(self.temporary, split, TYPES[dtype_name(self.vocab_size)])
        self.splits[split].add(ids, lengths)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            if kind is None:
                sizes = {name: files.finish() for name, files in self.splits.items()}
                (self.directory / "meta.json").unlink(missing_ok=True)  # without it, what stands here is no stream
                for path in sorted(self.temporary.iterdir()):
                    path.replace(self.directory / path.name)
                write_json(self.directory / "meta.json", {**self.meta, "splits": sizes})
        finally:
            for files in self.splits.values():
                files.close()
            shutil.rmtree(self.temporary, ignore_errors=True)


class TokenStream:
    """Reads one split through a memory map; positions and `len` count ids, `</s>` included."""

    def __init__(self, directory: Path, split: str) -> None:
        self.meta = _read_meta(Path(directory) / "meta.json", split)
        self.lines: int = self.meta["splits"][split]["lines"]
        self.tokens: int = self.meta["splits"][split]["tokens"]
        ids, index = Path(directory) / f"{split}.bin", Path(directory) / f"{split}.idx"
        self.ids = _map(ids, TYPES[self.meta["dtype"]], self.tokens)
        self.starts = _map(index, INDEX, self.lines + 1)
        if self.starts[0] != 0 or self.starts[-1] != self.tokens:
            raise InputError(index, f"runs from {self.starts[0]} to {self.starts[-1]}, not to {self.tokens}", fix=AGAIN)

    def __len__(self) -> int:
        return self.tokens

    def line(self, number: int) -> Ids:
        """Return the ids of a line (counted from 0) without its `</s>`."""
        if not 0 <= number < self.lines:
            raise IndexError(f"line {number} of {self.lines}")
        return self.ids[self.starts[number] : self.starts[number + 1] - 1]

    def slice(self, start: int, stop: int) -> Ids:
        """Return the ids from one position up to another, across lines."""
        if not 0 <= start <= stop <= self.tokens:
            raise IndexError(f"ids {start} to {stop} of {self.tokens}")
        return self.ids[start:stop]


def _read_meta(path: Path, split: str) -> dict[str, Any]:
    if not path.is_file():
        raise InputError(path, "no such file, so the streams here are not whole", fix=AGAIN)
    meta: dict[str, Any] = read_json(path)
    if not isinstance(meta, dict) or meta.get("dtype") not in TYPES or not isinstance(meta.get("splits"), dict):
        raise InputError(path, f"expected splits and a dtype out of {', '.join(TYPES)}", fix=AGAIN)
    if split not in meta["splits"]:
        raise InputError(path, f"no split {split!r}, only {', '.join(meta['splits'])}")
    return meta


def _map(path: Path, dtype: np.dtype[Any], entries: int) -> Ids:
    expected, found = entries * dtype.itemsize, path.stat().st_size if path.is_file() else 0
    if found != expected:
        raise InputError(path, f"{found} bytes, but meta.json says {expected}: truncated or replaced", fix=AGAIN)
    if not entries:
        return np.empty(0, dtype)  # an empty file cannot be mapped
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))
