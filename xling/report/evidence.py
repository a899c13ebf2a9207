"""Uncertainty of the scores of a study: seed variance, redraws and intervals (docs/verdicts.md).

Scores are transformed to z = asin(sqrt(score)), because the error of z hardly depends on the score. Every quantity (a
cell of Table 1, a layer of a curve) is redrawn many times around its mean, as in a parametric bootstrap.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from xling.core.seeds import numpy_rng
from xling.report.value import CERTAIN, TAIL, Array, Source, Value

REDRAWS = 10_000  # with 2,000, the ends of an interval would be uncertain by 2%
PRIOR = 3.0  # weight, in degrees of freedom, of the pool's variance when the variance of a group is shrunk towards it
SHARED = 0.5  # share of the seed variance of a pair that is due to its English model, which all pairs have in common
LAYERS = 0.5  # share of a layer's noise that all layers of its model have in common (about .5 in Figure 6 of `mini`)
Covariances = Mapping[str, tuple[Sequence[str], Array]]  # by test set: names as in `Measured.paired`, and their matrix


@dataclass(frozen=True)
class Measured:
    """One score of one seed, from 0 to 1, and the names that relate its noise to that of other scores.

    Seed variance is pooled by `pool` (a task) and `group`. `cluster` names the model; the scores of its layers are not
    independent. `test` names the test set. `english` is the English model that several pairs share. `seeds` is the
    number of seeds that the score is a mean of (0: not trained by us, so no seed variance); vectors that are trained
    `once` do not vary less with more seeds. `lender` is the pool whose
    variance is used if this pool has only one seed. `paired` is the name of the score in the item covariance matrix.
    `floor` is the key of the score of the untrained encoder, and `record` is the record that held the score.
    """

    key: str
    score: float
    error: float | None
    pool: str
    group: str
    cluster: str
    test: str
    untrained: bool = False
    english: str = ""
    seeds: int = 1
    once: bool = False
    lender: str = ""
    paired: str = ""
    floor: str = ""
    record: Any = None


def to_z(score: Any) -> Any:
    """Return z = asin(sqrt(score)) for scores from 0 to 1."""
    return np.arcsin(np.sqrt(score))


def from_z(z: Any) -> Any:
    """Return the scores for z; they continue antisymmetrically below 0 and above 1, so noise is not folded back."""
    inside = np.sin(z) ** 2
    return np.where(z < 0, -inside, np.where(z > math.pi / 2, 2 - inside, inside))


def seed_variances(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the seed variance of z for every pool and group, shrunk towards the pool: v = (3 v_pool + d v) / (3 + d).

    The variance of a pool is that of its trained models; untrained encoders with one seed use it unchanged. `own` is
    the variance v of the group before shrinkage, `second_seeds` is d, the number of seeds beyond the first. `origin` is
    "own" (this pool), "lent" (another pool), "unknown" (no second seed) or "none" (not trained by us).
    """
    by_key = rows.groupby(["pool", "group", "cluster", "key"])["z"].agg(["size", "var"])
    by_key["seeds"] = by_key["size"] - 1.0
    by_key["squares"] = by_key["var"] * by_key["seeds"]
    clusters = by_key[by_key["seeds"] > 0].groupby(["pool", "group", "cluster"])[["seeds", "squares"]].mean()
    about = rows.groupby(["pool", "group"])[["untrained", "lender", "seeds"]].first()
    groups = clusters.groupby(["pool", "group"]).sum().reindex(about.index, fill_value=0.0)
    trained = groups[~about["untrained"].astype(bool)].groupby("pool").sum()
    pools = (trained["squares"] / trained["seeds"]).dropna()
    pool, second_seeds, own = about.index.get_level_values("pool"), groups["seeds"], groups["squares"] / groups["seeds"]
    whole = pd.Series(pool.map(pools), about.index).replace(0.0, np.nan)
    whole = whole.fillna(about["lender"].map(pools).replace(0.0, np.nan)).fillna(own)
    known = (about["seeds"] > 0) & (whole > 0)
    shrunk = (PRIOR * whole + second_seeds * own.fillna(0.0)) / (PRIOR + second_seeds)
    origins = [about["seeds"] == 0, ~known, pool.isin(pools.index) | (second_seeds > 0)]
    found = {
        "own": own.where(known),
        "second_seeds": second_seeds.where(known, 0.0),
        "variance": shrunk.where(known, 0.0),
        "freedom": (PRIOR + second_seeds).where(known, CERTAIN),
        "origin": np.select(origins, ["none", "unknown", "own"], "lent"),
    }
    return pd.DataFrame(found)


def intervals(measured: Sequence[Measured]) -> pd.DataFrame:
    """Return the mean `score` of every quantity and its 95% interval; NaN if no error is known.

    The interval is symmetric on z, around z of the mean score; the mean z of several seeds belongs to another score.
    """
    if not measured:
        return pd.DataFrame()
    _, keys, _ = _quantities(measured)
    reach = stdtrit(keys["freedom"], 1 - TAIL) * np.hypot(keys["seed_error"], keys["z_error"])
    inside = (keys["score"] > 0) & (keys["score"] < 1)
    centre = to_z(keys["score"]).where(inside, keys["z"])
    ends = (np.clip(from_z(centre + sign * reach), 0.0, 1.0) for sign in (-1, 1))
    low, high = (np.where(reach > 0, end, np.nan) for end in ends)
    return pd.DataFrame({"score": keys["score"], "low": low, "high": high})


def redraw(
    measured: Sequence[Measured], covariances: Covariances, count: int = REDRAWS
) -> tuple[dict[str, Value], pd.DataFrame]:
    """Return every quantity with its redraws, z* = mean z + N(0, v / n + (item error)^2), and the seed variances.

    `covariances` has the item covariance for each test set: names as in `paired`, and a matrix on the scale of scores.
    """
    if not measured:
        return {}, pd.DataFrame()
    rows, keys, variances = _quantities(measured)
    rng = numpy_rng("claims", "redraws", count)
    noise = keys["seed_error"].to_numpy()[:, None] * _seed_noise(keys, count, rng)
    item_noise = _item_noise(keys, rows, covariances, count, rng)
    z = keys["z"].to_numpy()[:, None]
    lasting = item_noise + keys["once"].to_numpy(float)[:, None] * noise  # more seeds would not reduce it
    draws = np.hstack([keys["score"].to_numpy()[:, None], from_z(z + noise + item_noise), from_z(z + lasting)])
    sources = map(Source, keys["freedom"], keys["seeds"].mask(keys["once"], 0), keys["origin"])
    values = {key: Value(line, frozenset([s])) for key, line, s in zip(keys.index, draws, sources, strict=True)}
    return values, variances


def _quantities(measured: Sequence[Measured]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the scores on z, a table with one row per quantity and the errors of its mean, and the seed variances."""
    rows = pd.DataFrame([vars(row) for row in measured]).drop(columns="record")
    rows["z"], rows["z_error"] = _on_z(rows)
    variances, grouped = seed_variances(rows), rows.groupby("key")
    keys = rows.drop_duplicates("key").set_index("key").sort_index()  # so that the order of the scores does not matter
    keys["z"], keys["z_error"] = grouped["z"].mean(), grouped["z_error"].mean()  # all seeds have the same test items
    keys["score"], keys["seeds"] = grouped["score"].mean(), grouped["seeds"].sum()
    keys = keys.join(variances, on=["pool", "group"])
    keys["seed_error"] = np.sqrt(keys["variance"] / np.maximum(keys["seeds"], 1))
    return rows, keys, variances


def _on_z(rows: pd.DataFrame) -> tuple[Array, Array]:
    """Return the scores and their item errors on z; scores of 0 or 1 are moved inward by half an item.

    On z the error of a share of N items is 1 / (2 sqrt(N)), whatever the share is. The bootstrap finds no error for a
    score of 0 or 1, so such a score takes the median error of the other scores on its test set.
    """
    score, error = rows["score"].to_numpy(float), rows["error"].to_numpy(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        on_z = error / (2 * np.sqrt(score * (1 - score)))
    usable = pd.Series(np.where((error > 0) & (score > 0) & (score < 1), on_z, np.nan), index=rows.index)
    typical = usable.groupby(rows["test"]).transform("median").to_numpy()
    rough = np.where(error > 0, np.sqrt(np.maximum(error, 0)) / 2, 0.0)  # if it is the only score on its test set
    z_error = usable.fillna(pd.Series(np.where(np.isnan(typical), rough, typical), index=rows.index)).to_numpy()
    z_error = np.where(np.isnan(error), 0.0, z_error)
    half_item = np.minimum(2 * np.nan_to_num(z_error) ** 2, 0.5)  # 1 / (2 N)
    return to_z(np.clip(score, half_item, 1 - half_item)), z_error


def _seed_noise(keys: pd.DataFrame, count: int, rng: np.random.Generator) -> Array:
    """Return noise of variance 1; pairs with the same English model share a part of it."""
    own = _layered(keys["cluster"].tolist(), count, rng)
    names = sorted({name for name in keys["english"] if name})
    common = dict(zip(names, _layered([name.rpartition("|")[0] for name in names], count, rng), strict=True))
    for place, name in enumerate(keys["english"]):
        if name:
            own[place] = math.sqrt(1 - SHARED) * own[place] + math.sqrt(SHARED) * common[name]
    return own


def _layered(models: Sequence[str], count: int, rng: np.random.Generator) -> Array:
    """Return one row of noise of unit variance per entry of `models`; rows (layers) of the same model share a part."""
    places = {model: place for place, model in enumerate(dict.fromkeys(models))}
    common = rng.standard_normal((len(places), count))[[places[model] for model in models]]
    return math.sqrt(1 - LAYERS) * rng.standard_normal((len(models), count)) + math.sqrt(LAYERS) * common


def _item_noise(
    keys: pd.DataFrame, rows: pd.DataFrame, covariances: Covariances, count: int, rng: np.random.Generator
) -> Array:
    """Return the noise due to the test items: paired between scores if their covariance is known.

    Otherwise scores are independent, except for layers of one model. A score of 0 or 1, for which a bootstrap finds no
    covariance, keeps the typical error of its test set.
    """
    noise: Array = keys["z_error"].to_numpy()[:, None] * _layered(keys["cluster"].tolist(), count, rng)
    inside = keys.index[(keys["score"] > 0) & (keys["score"] < 1)]
    for test, (names, matrix) in sorted(covariances.items()):
        varied = {name for name, variance in zip(names, np.diag(matrix), strict=True) if variance > 0}
        mine = rows[(rows["test"] == test) & rows["paired"].isin(varied) & rows["key"].isin(inside)]
        if mine.empty:
            continue
        weights = pd.crosstab(mine["key"], mine["paired"], normalize="index")  # they average the scores of single seeds
        average = weights.reindex(index=mine["key"].unique(), columns=names, fill_value=0.0)
        where = keys.index.get_indexer(average.index)
        slope = 1 / np.sin(2 * keys["z"].to_numpy()[where])  # dz / dscore
        on_z = slope[:, None] * average.to_numpy()
        values, vectors = np.linalg.eigh(on_z @ matrix @ on_z.T)
        root = vectors * np.sqrt(np.clip(values, 0, None))
        noise[where] = root @ rng.standard_normal((len(where), count))
    return noise
