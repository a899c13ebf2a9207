"""Turn what the analyses of section 5 found into records: Figures 4a, 4b, 6 and 7, CKA matrices, correlations.

python -m workflow_scripts.collect_alignment --analysis words=words.json --analysis cka=cka.json \\
    --config-hash words=H --config-hash cka=H --out-dir records

Shares become points from 0 to 100. A result of another configuration is refused.
"""

import argparse
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling.core.cli import named, named_paths
from xling.core.errors import InputError, run
from xling.core.io import read_json, write_text
from xling.core.log import log_to_stderr
from xling.report.cka_table import average_intervals
from xling.report.claims.similarity import correlations
from xling.report.estimate import unanimous_reach
from xling.report.record_files import write_records
from xling.report.records import (
    AVERAGE,
    BERT,
    FASTTEXT,
    MONOLINGUAL,
    UNTRAINED,
    CkaScore,
    SentenceScore,
    WordScore,
)

Record = Mapping[str, Any]
MATRIX = ("pair", "model", "layer_a", "layer_b", "cka")
VECTORS = {"trained": BERT, "untrained": UNTRAINED, "fasttext": FASTTEXT}
MODELS = {"trained": MONOLINGUAL, "untrained": UNTRAINED}


def points(record: Record) -> dict[str, float]:
    """Return the shares of a record as points."""
    return {key: 100 * record[key] for key in ("p1", "low", "high", "chance")}


def word_scores(found: Record, figure: str) -> list[WordScore]:
    """Return the records of Figure 4a or 4b; none or all of few words right still leaves an interval."""
    asked = {code: counts["test"]["source_words_kept"] for code, counts in found["counts"][figure].items()}
    known = [unanimous(r, asked[r["language"]]) for r in found["records"] if r["figure"] == figure]
    return [
        WordScore(r["language"], VECTORS[r["vectors"]], **points(r), layer=r["layer"], pairs=r["pairs"]) for r in known
    ]


def unanimous(record: Record, asked: int) -> Record:
    """Return a record whose interval is that of so many words where all or none of them are right."""
    reach = unanimous_reach(asked)
    ends = {0.0: {"low": 0.0, "high": reach}, 1.0: {"low": 1 - reach, "high": 1.0}}
    return {**record, **ends.get(record["p1"], {})}


def sentence_scores(records: Iterable[Record]) -> list[SentenceScore]:
    """Return the records of Figure 6: retrieval after mapping."""
    return [
        SentenceScore(r["language"], MODELS[r["encoders"]], r["direction"], r["layer"], **points(r))
        for r in records
        if r["space"] == "mapped"
    ]


def cka_scores(records: Sequence[Record]) -> list[CkaScore]:
    """Return the records of Figure 7, layers and their average, which has an interval where there are seeds."""
    intervals = average_intervals([(r["model"], r["by_seed"]) for r in records])
    return [
        CkaScore(layer, r["pair"], r["model"], value, *(interval if layer == AVERAGE else (None, None)))
        for r, interval in zip(records, intervals, strict=True)
        for layer, value in r["cka"].items()
    ]


def matrix_rows(records: Iterable[Record]) -> list[list[Any]]:
    """Return every layer of one encoder against every layer of the other, a row each."""
    return [
        [r["pair"], r["model"], i, j, value]
        for r in records
        for i, row in enumerate(r["matrix"])
        for j, value in enumerate(row)
    ]


def read_analysis(path: Path, config: str) -> Record:
    """Return what an analysis found, which must be of this configuration."""
    result = read_json(path)
    if not isinstance(result, dict) or not {"records", "config"} <= result.keys():
        raise InputError(path, "not the result of an analysis")
    if result["config"] != config:
        raise InputError(path, f"of configuration {result['config']!r}, not {config!r}", fix="run the analysis again")
    return result


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV."""
    with write_text(path) as handle:
        csv.writer(handle, lineterminator="\n").writerows([header, *rows])


def collect(found: Mapping[str, Record], out: Path) -> None:
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
        write_table(out / "cka_matrix.csv", MATRIX, matrix_rows(records["cka"]))
    if sentences and similarity:
        source = similarity[0].pair.partition("-")[0]  # the study's source is the first language of every pair
        write_table(out / "pearson.csv", ("pair", "layers", "pearson"), correlations(sentences, similarity, source))


def main() -> None:
    """Collect the analyses into records."""
    args = parse_args()
    files = named_paths(args.analysis, "--analysis", "NAME=FILE")
    hashes = named(args.config_hash, "--config-hash", "NAME=HASH")
    found = {name: read_analysis(path, hashes.get(name, "")) for name, path in files.items()}
    collect(found, args.out_dir)
    log_to_stderr(__name__).info("records of %s in %s", ", ".join(found), args.out_dir)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analysis", action="append", required=True, metavar="NAME=FILE", help="words, sentences, cka")
    parser.add_argument("--config-hash", action="append", default=[], metavar="NAME=HASH", help="what it must carry")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
