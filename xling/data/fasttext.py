"""fastText vectors as text (`wiki.{lg}.vec`): a line with number and width of the vectors, then one vector per line."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import InputError
from xling.core.io import numbered_lines


class Vectors(NamedTuple):
    """Words and their vectors; row i is the vector of word i."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]  # (words, width)


def read_vectors(path: Path, limit: int) -> Vectors:
    """Return the first `limit` distinct words with their vectors; the rest of the file is not read."""
    lines = numbered_lines(path)
    _, header = next(lines, (1, ""))
    fields = header.split()
    if len(fields) != 2 or not all(field.isascii() and field.isdigit() for field in fields) or int(fields[1]) == 0:
        raise InputError(path, f"{header!r} is not a header of count and width such as 2519370 300", line=1)
    count, width = map(int, fields)
    vectors = np.empty((min(count, limit), width), dtype=np.float32)
    words: dict[str, None] = {}
    rows = 0
    for number, line in lines:
        if len(words) == len(vectors):
            break
        rows += 1
        word, *numbers = line.rstrip(" ").rsplit(" ", width)  # from the right: some words contain spaces
        if len(numbers) != width or not word:
            raise InputError(path, f"not a word and {width} numbers", line=number)
        try:
            vector = np.array(numbers, dtype=np.float32)
        except ValueError as error:
            raise InputError(path, f"{error} in the vector of {word!r}", line=number) from None
        if not np.isfinite(vector).all():
            raise InputError(path, f"the vector of {word!r} holds a number that is not finite", line=number)
        if word not in words:
            vectors[len(words)] = vector
            words[word] = None
    if len(words) < len(vectors) and rows < count:
        raise InputError(path, f"ends after {rows} of {count} vectors", fix="fetch the file again")
    return Vectors(tuple(words), vectors[: len(words)])
