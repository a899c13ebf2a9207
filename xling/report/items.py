"""Counts of every test sentence behind Table 1, and how scores on the same sentences err together.

items.npz has an array (grid points, columns, sentences) for each task, language, setting and seed, named like
ner/fr/Default/1; the columns are those of the task in xling.finetune.metrics.
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


def item_covariances(path: Path, cells: Iterable[Cell]) -> Covariances:
    """Return how the scores of each test set of Table 1 err together over samples of its sentences.

    Every sample takes the same sentences of all models, so what two of them get right or wrong together cancels out in
    their difference. A test set whose counts are not kept has no entry.
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
