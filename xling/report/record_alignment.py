"""Turn what the analyses of section 5 found into records: Figures 4a, 4b, 6 and 7, CKA matrices, correlations.

python -m xling.report.record_alignment --analysis words=words.json --analysis cka=cka.json \\
    --config-hash words=H --config-hash cka=H --out-dir records

Shares become points from 0 to 100. A result of another configuration is refused.
"""

import argparse
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from xling.core.cli import named, named_paths
from xling.core.errors import InputError, run
from xling.core.log import log_to_stderr
from xling.core.results import read_result
from xling.report.claims.similarity import correlations
from xling.report.estimate import seed_reach, unanimous_reach
from xling.report.records import (
    AVERAGE,
    BERT,
    FASTTEXT,
    MONOLINGUAL,
    UNTRAINED,
    CkaScore,
    LayerPair,
    SentenceScore,
    WordScore,
    write_records,
)

Found = Mapping[str, Any]
Interval = tuple[float | None, float | None]
VECTORS = {"trained": BERT, "untrained": UNTRAINED, "fasttext": FASTTEXT}
MODELS = {"trained": MONOLINGUAL, "untrained": UNTRAINED}


@dataclass(frozen=True)
class Correlation:
    """Pearson's r of CKA and retrieval over the layers of a pair."""

    KEY: ClassVar = ("pair",)
    pair: str
    layers: int
    pearson: float | None


def points(record: Found) -> dict[str, float]:
    """Return the shares of a record as points."""
    return {key: 100 * record[key] for key in ("p1", "low", "high", "chance")}


def word_scores(found: Found, figure: str) -> list[WordScore]:
    """Return the records of Figure 4a or 4b."""
    asked = {code: counts["test"]["source_words_kept"] for code, counts in found["counts"][figure].items()}
    known = [unanimous(r, asked[r["language"]]) for r in found["records"] if r["figure"] == figure]
    return [
        WordScore(r["language"], VECTORS[r["vectors"]], **points(r), layer=r["layer"], pairs=r["pairs"]) for r in known
    ]


def unanimous(record: Found, asked: int) -> Found:
    """Return a record with an interval even where all or none of so many words are right."""
    reach = unanimous_reach(asked)
    ends = {0.0: {"low": 0.0, "high": reach}, 1.0: {"low": 1 - reach, "high": 1.0}}
    return {**record, **ends.get(record["p1"], {})}


def sentence_scores(records: Iterable[Found]) -> list[SentenceScore]:
    """Return the records of Figure 6: retrieval after mapping."""
    return [
        SentenceScore(r["language"], MODELS[r["encoders"]], r["direction"], r["layer"], **points(r))
        for r in records
        if r["space"] == "mapped"
    ]


def cka_scores(records: Sequence[Found]) -> list[CkaScore]:
    """Return the records of Figure 7, layers and their average, which has an interval where there are seeds."""
    intervals = average_intervals([(r["model"], r["by_seed"]) for r in records])
    return [
        CkaScore(layer, r["pair"], r["model"], value, *(interval if layer == AVERAGE else (None, None)))
        for r, interval in zip(records, intervals, strict=True)
        for layer, value in r["cka"].items()
    ]


def average_intervals(found: Sequence[tuple[str, Sequence[float]]]) -> list[Interval]:
    """Return the interval of each average over the layers, given its kind of model and its seeds.

    Seeds are assumed to vary equally in all pairs of a kind, as in Table 1 in all settings of a task and language.
    Where no pair of a kind has a second seed there are no intervals.
    """
    kinds: dict[str, list[Sequence[float]]] = {}
    for kind, seeds in found:
        kinds.setdefault(kind, []).append(seeds)
    known = {kind: seed_reach(groups) for kind, groups in kinds.items() if max(map(len, groups)) > 1}
    return [_interval(seeds, known[kind]) if kind in known else (None, None) for kind, seeds in found]


def _interval(seeds: Sequence[float], reach: float) -> Interval:
    middle, own = math.fsum(seeds) / len(seeds), reach / math.sqrt(len(seeds))
    return max(middle - own, 0.0), min(middle + own, 1.0)


def matrix_scores(records: Iterable[Found]) -> list[LayerPair]:
    """Return every layer of one encoder against every layer of the other."""
    return [
        LayerPair(r["pair"], r["model"], i, j, value)
        for r in records
        for i, row in enumerate(r["matrix"])
        for j, value in enumerate(row)
    ]


def read_analysis(path: Path, config: str) -> Found:
    """Return what an analysis found, which must be of this configuration."""
    result: Found = read_result(path, config)
    if "records" not in result:
        raise InputError(path, "not the result of an analysis")
    return result


def collect(found: Mapping[str, Found], out: Path) -> None:
    """Write the records of the analyses that were made."""
    if "words" in found:
        for figure in ("figure4a", "figure4b"):
            write_records(out / f"{figure}.csv", WordScore, word_scores(found["words"], figure))
    records = {name: result["records"] for name, result in found.items()}
    sentences, similarity = sentence_scores(records.get("sentences", [])), cka_scores(records.get("cka", []))
    if sentences:
        write_records(out / "figure6.csv", SentenceScore, sentences)
    if similarity:
        write_records(out / "figure7.csv", CkaScore, similarity)
        write_records(out / "cka_matrix.csv", LayerPair, matrix_scores(records["cka"]))
    if sentences and similarity:
        source = similarity[0].pair.partition("-")[0]  # the study's source is the first language of every pair
        made = [Correlation(*found) for found in correlations(sentences, similarity, source)]
        write_records(out / "pearson.csv", Correlation, made)


def main() -> None:
    """Collect the analyses into records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analysis", action="append", required=True, metavar="NAME=FILE", help="words, sentences, cka")
    parser.add_argument("--config-hash", action="append", default=[], metavar="NAME=HASH", help="what it must carry")
    parser.add_argument("--out-dir", type=Path, required=True)
    args = parser.parse_args()
    files = named_paths(args.analysis, "--analysis", "NAME=FILE")
    hashes = named(args.config_hash, "--config-hash", "NAME=HASH")
    found = {name: read_analysis(path, hashes.get(name, "")) for name, path in files.items()}
    collect(found, args.out_dir)
    log_to_stderr(__name__).info("records of %s in %s", ", ".join(found), args.out_dir)


if __name__ == "__main__":
    run(main)
