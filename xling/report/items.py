"""Counts of every test sentence behind Table 1, and the covariance of the errors of scores on the same sentences.

items.npz has an array (grid points, columns, sentences) for each task, language, setting and seed, with a name like
ner/fr/Default/1. The columns are defined for each task in xling.finetune.metrics.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from xling.core.errors import InputError
from xling.core.io import atomic_path, check_seal
from xling.core.seeds import numpy_rng
from xling.core.stats import RESAMPLES, Counts, resampled_points
from xling.finetune.metrics import MEASURES
from xling.report.evidence import Covariances
from xling.report.records import Cell

Key = tuple[str, str, str, int]  # task, language, setting, seed


def write_items(path: Path, counts: Mapping[Key, Counts]) -> None:
    """Write counts (grid points, sentences, columns) compactly: column by column, in the smallest integer type."""
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
                setting, _, seed = label.rpartition("/")  # a label may contain a slash
                if (kind, code) == (task, language):
                    found[setting, int(seed)] = arrays[name].swapaxes(1, 2).astype(np.int64)
    except Exception as error:  # zipfile, zlib and numpy raise many kinds of errors for a damaged archive
        raise InputError(path, f"no counts of test sentences: {error}", fix="run record_transfer again") from None
    shapes = sorted({own.shape for own in found.values()})
    if len(shapes) > 1:
        raise InputError(path, f"{task} {language}: of different test sets or grids, {shapes[0]} and {shapes[1]}")
    return found


def item_covariances(path: Path, cells: Iterable[Cell]) -> Covariances:
    """Return the covariance of the scores on each test set of Table 1 over bootstrap samples of its sentences.

    Every sample has the same sentences for all models, so the errors that two models have in common cancel out in their
    difference. A test set whose counts were not stored has no entry.
    """
    found = {}
    for task, language in dict.fromkeys((cell.task, cell.language) for cell in cells):
        counts = read_items(path, task, language) if path.exists() else {}
        if counts:
            measure = next(iter(MEASURES[task].values()))
            together = np.concatenate(list(counts.values()))  # (models and grid points, sentences, columns)
            points = resampled_points(together, measure, RESAMPLES, numpy_rng("items", task, language))
            scores = points.reshape(RESAMPLES, len(counts), -1).mean(axis=2)
            names = [f"{setting}|{seed}" for setting, seed in counts]
            found[f"{task}|{language}"] = (names, np.atleast_2d(np.cov(scores, rowvar=False)) / 100**2)
    return found
