"""Uncertainty of the scores of a study: seed variance, redraws and intervals (docs/verdicts.md).

Scores are transformed to z = asin(sqrt(score)), because the error of z hardly depends on the score. Every quantity (a
cell of Table 1, a layer of a curve) is redrawn many times around its mean, as in a parametric bootstrap. A `Value`
holds all redraws in one array, so a function of quantities is computed on all redraws at once. If a quantity occurs in
several formulas, all of them use the same array: its noise is fully correlated and cancels in differences.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import stdtrit

from xling.core.seeds import numpy_rng

REDRAWS = 10_000  # with 2,000, the ends of an interval would be uncertain by 2%
PRIOR = 3.0  # weight, in degrees of freedom, of the pool's variance when the variance of a group is shrunk towards it
SHARED = 0.5  # share of the seed variance of a pair that is due to its English model, which all pairs have in common
LAYERS = 0.5  # share of a layer's noise that all layers of its model have in common (about .5 in Figure 6 of `mini`)
TAIL = 0.025  # probability beyond each end of a 95% interval
STEADY = 0.45  # the largest coefficient of variation of a denominator at which a ratio is shown
CERTAIN = 1e6  # degrees of freedom of a variance that is known, not estimated
Array = NDArray[np.float64]
Covariances = Mapping[str, tuple[Sequence[str], Array]]  # by test set: names as in `Measured.paired`, and their matrix


@dataclass(frozen=True)
class Source:
    """The origin of a seed variance and its degrees of freedom; `seeds` is 0 for models that we did not train."""

    freedom: float
    seeds: float
    origin: str = "own"  # see `seed_variances`


@dataclass(frozen=True, eq=False)
class Value:
    """A quantity: the observed number, then n redraws with seed and item noise, then n redraws with item noise only.

    The redraws of a ratio are those of a contrast at the ratio `at`; at another ratio c, (c - at) `tilt` is added.
    """

    draws: Array
    sources: frozenset[Source] = frozenset()
    tilt: Array | None = None
    at: float = 0.0

    @property
    def observed(self) -> float:
        """The observed number."""
        return float(self.draws[0])

    @cached_property
    def spread(self) -> float:
        """The standard error: half the distance between the 16th and the 84th percentile of the redraws."""
        return self._spread(0)

    @cached_property
    def item_spread(self) -> float:
        """The standard error due to the test items alone, which more seeds would not reduce."""
        return self._spread(1)

    @property
    def freedom(self) -> float:
        """The smallest degrees of freedom among the sources."""
        return min((source.freedom for source in self.sources), default=CERTAIN)

    @property
    def seeds(self) -> float:
        """The number of seeds behind the value: the harmonic mean over the sources."""
        counts = [source.seeds for source in self.sources if source.seeds]
        return len(counts) / sum(1 / count for count in counts) if counts else 1.0

    @property
    def origins(self) -> set[str]:
        """The origins of the seed variances, see `seed_variances`."""
        return {source.origin for source in self.sources}

    def interval(self, reach: float) -> tuple[float, float]:
        """Return the range of numbers at most `reach` standard errors from the observed one.

        For a ratio it is Fieller's: the standard error at c is that of the contrast at c (at `at` if there is no end).
        """
        if self.tilt is None:
            return self.observed - reach * self.spread, self.observed + reach * self.spread
        return self._end(-reach), self._end(reach)

    def _end(self, reach: float) -> float:
        def beyond(c: float) -> float:
            return abs(c - self.observed) - abs(reach) * self._spread(0, c)

        near, *farther = (self.observed + n * reach * self.spread for n in (1, 2, 4, 8, 16))
        far = next((c for c in (near, *farther) if beyond(c) > 0), None)
        return near if far is None else float(brentq(beyond, self.observed, far, xtol=1e-6))

    def _spread(self, half: int, c: float | None = None) -> float:
        draws = self.draws if c is None or self.tilt is None else self.draws + (c - self.at) * self.tilt
        own = np.split(draws[1:], 2)[half]
        low, high = np.quantile(own, [0.16, 0.84]) if own.size else (0.0, 0.0)
        return float(high - low) / 2

    def __add__(self, other: "Value | float") -> "Value":
        return together(np.add, self, other)

    def __sub__(self, other: "Value | float") -> "Value":
        return together(np.subtract, self, other)

    def __mul__(self, factor: float) -> "Value":
        return Value(factor * self.draws, self.sources)

    __rmul__ = __mul__


def together(function: Any, *values: Value | float) -> Value:
    """Apply a function of arrays to the redraws of values, and return the result with the sources of all values."""
    sources = frozenset(source for value in values if isinstance(value, Value) for source in value.sources)
    return Value(function(*(value.draws if isinstance(value, Value) else value for value in values)), sources)


def mean(values: Sequence[Value]) -> Value:
    """Return the mean of the values in every redraw; the mean of ratios of one contrast is such a ratio."""
    found = together(lambda *arrays: np.mean(arrays, axis=0), *values)
    tilts = [value.tilt for value in values if value.tilt is not None and value.at == values[0].at]
    return found if len(tilts) < len(values) else replace(found, tilt=np.mean(tilts, axis=0), at=values[0].at)


def best(values: Sequence[Value]) -> Value:
    """Return the maximum of the values in every redraw."""
    return together(lambda *arrays: np.max(arrays, axis=0), *values)


def worst(values: Sequence[Value]) -> Value:
    """Return the minimum of the values in every redraw."""
    return together(lambda *arrays: np.min(arrays, axis=0), *values)


def pearson(left: Sequence[Value], right: Sequence[Value]) -> Value:
    """Return Pearson's correlation between two sequences of values in every redraw."""

    def correlate(*arrays: Array) -> Array:
        x, y = (np.stack(half) - np.mean(half, axis=0) for half in (arrays[: len(left)], arrays[len(left) :]))
        return np.asarray((x * y).sum(axis=0) / np.sqrt((x * x).sum(axis=0) * (y * y).sum(axis=0)))

    return together(correlate, *left, *right)


def share(top: Value, bottom: Value, threshold: float | None = None) -> Value:
    """Return the ratio top / bottom, with redraws derived from the linear contrast top - c bottom (Fieller 1954).

    If bottom is positive, top / bottom is above c exactly when top - c bottom is above 0, and that difference is nearly
    normal. c is the threshold `threshold`, or the observed ratio if None.
    """
    at = top.observed / bottom.observed if threshold is None else threshold
    contrast = (top - at * bottom) * (1 / bottom.observed) + at
    return replace(contrast, tilt=1 - bottom.draws / bottom.observed, at=at)


def steady(bottom: Value) -> bool:
    """Return whether a denominator is positive and precise enough for its ratio to be shown."""
    return bottom.observed > 0 and bottom.spread <= STEADY * bottom.observed


# --- seed variance and redraws ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """One score of one seed, from 0 to 1, and the names that relate its noise to that of other scores.

    Seed variance is pooled by `pool` (a task) and `group`. `cluster` names the model; the scores of its layers are not
    independent. `test` names the test set. `english` is the English model that several pairs share. `seeds` is the
    number of seeds that the score is a mean of (0: not trained by us, so no seed variance). `lender` is the pool whose
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

    The interval is symmetric on z, around the mean score, to which the mean z of several seeds does not belong.
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
    draws = np.hstack([keys["score"].to_numpy()[:, None], from_z(z + noise + item_noise), from_z(z + item_noise)])
    sources = map(Source, keys["freedom"], keys["seeds"], keys["origin"])
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
