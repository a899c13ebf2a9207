"""Counts of every test sentence behind Table 1, and how scores on the same sentences err together.

items.npz has an array (grid points, columns, sentences) for each task, language, setting and seed, named like
ner/fr/Default/1; the columns are those of the task in xling.finetune.metrics.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import InputError
from xling.core.io import atomic_path, check_seal
from xling.core.seeds import numpy_rng
from xling.core.stats import RESAMPLES, Counts, resampled_points
from xling.finetune.metrics import MEASURES

Key = tuple[str, str, str, int]  # task, language, setting, seed


def write_items(path: Path, counts: Mapping[Key, Counts]) -> None:
    """Write counts (grid points, sentences, columns) as small as they go: a column after the other."""
    arrays = {
        "/".join(map(str, key)): own.swapaxes(1, 2).astype(np.min_scalar_type(own.max()), order="C")
        for key, own in counts.items()
    }
    with atomic_path(path, sealed=True) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, **arrays)  # type: ignore[arg-type]


def read_items(path: Path, task: str, language: str) -> dict[tuple[str, int], Counts]:
    """Return the counts (grid points, sentences, columns) of a task and language by setting and seed."""
    found = {}
    check_seal(path)
    try:
        with np.load(path) as arrays:
            for name in arrays.files:
                kind, code, label = name.split("/", 2)
                setting, _, seed = label.rpartition("/")  # a label may have a slash in it
                if (kind, code) == (task, language):
                    found[setting, int(seed)] = arrays[name].swapaxes(1, 2).astype(np.int64)
    except Exception as error:  # a damaged archive makes zipfile, zlib and numpy raise all kinds
        raise InputError(path, f"no counts of test sentences: {error}", fix="run record_transfer again") from None
    shapes = sorted({own.shape for own in found.values()})
    if len(shapes) > 1:
        raise InputError(path, f"{task} {language}: of different test sets or grids, {shapes[0]} and {shapes[1]}")
    return found


def item_covariance(path: Path, task: str, language: str) -> tuple[list[tuple[str, int]], NDArray[np.float64]]:
    """Return settings and seeds, and the covariance of their scores in points over samples of the test sentences.

    Every sample takes the same sentences of all, so what two models get right or wrong together cancels out in their
    difference. A study without counts of this task and language has none of either.
    """
    counts = read_items(path, task, language) if path.exists() else {}
    if not counts:
        return [], np.zeros((0, 0))
    measure = next(iter(MEASURES[task].values()))
    together = np.concatenate(list(counts.values()))  # (models and grid points, sentences, columns)
    found = resampled_points(together, measure, RESAMPLES, numpy_rng("items", task, language))
    scores = found.reshape(RESAMPLES, len(counts), -1).mean(axis=2)
    return list(counts), np.atleast_2d(np.cov(scores, rowvar=False))
