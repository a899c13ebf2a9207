"""Turn the results of the analyses of section 5 into records: Figures 4a, 4b, 6 and 7, and CKA matrices.

python -m xling.report.record_alignment --analysis words.s1=words.s1.json --analysis cka.s1=cka.s1.json \\
    --plan words.s1=plans/words.s1.json --plan cka.s1=plans/cka.s1.json --out-dir records

A plan is the input of an analysis: it gives the seed of the models and the configuration hash that the result must
have. Shares become points from 0 to 100.
"""

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xling.core.cli import named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.io import read_json
from xling.core.log import log_to_stderr
from xling.core.results import read_result
from xling.core.stats import unanimous_reach
from xling.report.models import BERT, FASTTEXT, MONOLINGUAL, UNTRAINED
from xling.report.records import CkaScore, LayerPair, SentenceScore, WordScore, write_records

Found = Mapping[str, Any]
Seeds = Mapping[int, Found]  # the results of an analysis by seed
VECTORS = {"trained": BERT, "untrained": UNTRAINED, "fasttext": FASTTEXT}
MODELS = {"trained": MONOLINGUAL, "untrained": UNTRAINED}


def in_points(records: Iterable[Found], seed: int) -> Iterator[tuple[Found, dict[str, Any]]]:
    """Yield each record with the fields that words and sentences have in common, shares in points."""
    for r in records:
        points = {key: 100 * r[key] for key in ("p1", "low", "high", "chance")}
        yield r, {"language": r["language"], "layer": r["layer"], "seed": seed, **points}


def unanimous(record: Found, asked: int) -> Found:
    """Return a record; if all or none of the `asked` words are right, it gets an interval of positive width."""
    reach = unanimous_reach(asked)
    ends = {0.0: {"low": 0.0, "high": reach}, 1.0: {"low": 1 - reach, "high": 1.0}}
    return {**record, **ends.get(record["p1"], {})}


def word_scores(seeds: Seeds, figure: str, trained: Collection[str] = ()) -> list[WordScore]:
    """Return the records of Figure 4a or 4b; the scores of fastText are taken from the first result.

    Vectors that others published have no seed. Those of the languages in `trained` were trained by us, once: seed 1.
    """
    made: dict[tuple[Any, ...], WordScore] = {}
    for seed, found in seeds.items():
        asked = {code: counts["test"]["source_words_kept"] for code, counts in found["counts"][figure].items()}
        own = [unanimous(r, asked[r["language"]]) for r in found["records"] if r["figure"] == figure]
        for r, points in in_points(own, seed):
            once = {"seed": 1 if r["language"] in trained else None}
            fields = points | (once if r["vectors"] == "fasttext" else {})
            score = WordScore(vectors=VECTORS[r["vectors"]], pairs=r["pairs"], **fields)
            made.setdefault((score.language, score.vectors, score.layer, score.seed), score)
    return list(made.values())


def sentence_scores(seeds: Seeds) -> list[SentenceScore]:
    """Return the records of Figure 6: retrieval after mapping."""
    return [
        SentenceScore(model=MODELS[r["encoders"]], direction=r["direction"], **points)
        for seed, found in seeds.items()
        for r, points in in_points(found["records"], seed)
        if r["space"] == "mapped"
    ]


def cka_scores(seeds: Seeds) -> list[CkaScore]:
    """Return the records of Figure 7: each layer of every seed, and the average over the layers."""
    return [
        CkaScore(layer=layer, pair=r["pair"], model=r["model"], seed=seed, cka=value)
        for seed, found in seeds.items()
        for r in found["records"]
        for layer, value in r["cka"].items()
    ]


def matrix_scores(seeds: Seeds) -> list[LayerPair]:
    """Return the similarity of every layer of one encoder to every layer of the other, the mean over the seeds."""
    matrices: dict[tuple[str, str], list[Any]] = {}
    for found in seeds.values():
        for r in found["records"]:
            matrices.setdefault((r["pair"], r["model"]), []).append(r["matrix"])
    return [
        LayerPair(*names, i, j, float(value))
        for names, own in matrices.items()
        for (i, j), value in np.ndenumerate(np.mean(own, axis=0))
    ]


def asked_items(found: Found) -> dict[tuple[str, ...], tuple[Any, ...]]:
    """Return what is known of the test items of each figure and language, which must be the same for all seeds."""
    asked = [r for r in found["records"] if "chance" in r]  # CKA has none
    return {(r.get("figure", "figure6"), r["language"]): (r["chance"], r.get("pairs")) for r in asked}


def records_of(name: str, seeds: Seeds, trained: Collection[str]) -> dict[str, tuple[type[Any], Sequence[Any]]]:
    """Return the records of an analysis and their kind, by the name of the file to write."""
    if name == "words":
        return {figure: (WordScore, word_scores(seeds, figure, trained)) for figure in ("figure4a", "figure4b")}
    if name == "sentences":
        return {"figure6": (SentenceScore, sentence_scores(seeds))}
    return {"figure7": (CkaScore, cka_scores(seeds)), "cka_matrix": (LayerPair, matrix_scores(seeds))}


def main() -> None:
    """Collect the analyses into records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analysis", action="append", required=True, metavar="NAME=FILE", help="words.s1, cka.s2, …")
    parser.add_argument("--plan", action="append", default=[], metavar="NAME=FILE", help="what it was given")
    parser.add_argument(
        "--own-vectors", nargs="*", default=[], metavar="LANGUAGE", help="fastText trained by the study"
    )
    parser.add_argument("--out-dir", type=Path, required=True)
    args = parser.parse_args()
    files, plans = named_paths(args.analysis, "--analysis", "NAME=FILE"), named_paths(args.plan, "--plan", "NAME=FILE")
    if set(files) != set(plans):
        raise XlingError("--analysis and --plan must name the same analyses")
    seeds: dict[str, dict[int, Found]] = {}
    items: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for name, path in files.items():
        plan, analysis = read_json(plans[name]), name.split(".")[0]
        found = read_result(path, plan["config"])
        seeds.setdefault(analysis, {})[plan["seed"]] = found
        if "records" not in found:
            raise InputError(path, "not the result of an analysis: no 'records'", fix="delete it and run again")
        for key, asked in asked_items(found).items():
            if items.setdefault((analysis, *key), asked) != asked:
                raise InputError(path, f"{' '.join(key)}: other test items than for another seed", fix="run both again")
    for analysis, results in seeds.items():
        for figure, (kind, records) in records_of(analysis, results, args.own_vectors).items():
            write_records(args.out_dir / f"{figure}.csv", kind, records)
    log_to_stderr(__name__).info("records of %s in %s", ", ".join(files), args.out_dir)


if __name__ == "__main__":
    run(main)
