"""Turn what the analyses of section 5 found into records: Figures 4a, 4b, 6 and 7, and CKA matrices.

python -m xling.report.record_alignment --analysis words=words.json --analysis cka=cka.json \\
    --plan words=plans/words.json --plan cka=plans/cka.json --out-dir records

A plan is what the analysis was given: it says which seeds there are, and which configuration the result must be of.
Shares become points from 0 to 100.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from xling.core.cli import named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.io import read_json
from xling.core.log import log_to_stderr
from xling.core.results import read_result
from xling.report.estimate import unanimous_reach
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
VECTORS = {"trained": BERT, "untrained": UNTRAINED, "fasttext": FASTTEXT}
MODELS = {"trained": MONOLINGUAL, "untrained": UNTRAINED}


def planned_seeds(plan: Found) -> dict[tuple[str, ...], list[int]]:
    """Return the seeds behind each record of an analysis, by its language, or by its pair and kind of models."""
    folders: dict[tuple[str, ...], list[str]]
    if "comparisons" in plan:
        rows = plan["comparisons"]
        folders = {(r["pair"], r["model"]): [sides[0]["folder"] for sides in r["seeds"]] for r in rows}
    else:
        languages = plan["languages"].items()
        folders = {(code,): [pair[plan["source"]] for pair in own["seeds"]] for code, own in languages}
    # The folder of an encoder's states has the encoder's name, as en.mono.s1.
    return {key: [int(Path(folder).name.rpartition(".s")[2]) for folder in own] for key, own in folders.items()}


def seeds_of(found: Found, record: Found, *key: str) -> list[int | None]:
    """Return the seeds of a record's values; fastText has none."""
    names = tuple(record[name] for name in key)
    seeds = [None] if record.get("vectors") == "fasttext" else found["seeds"].get(names, [])
    if len(seeds) != len(record["by_seed"]):
        raise XlingError(f"{' '.join(names)}: {len(record['by_seed'])} seeds, planned are {len(seeds)} (run it again)")
    return list(seeds)


def by_seed(found: Found) -> Iterator[tuple[Found, int | None, float]]:
    """Yield the records of an analysis once for each seed, with that seed's points."""
    for record in found["records"]:
        for seed, share in zip(seeds_of(found, record, "language"), record["by_seed"], strict=True):
            yield record, seed, 100 * share


def in_points(record: Found) -> dict[str, float]:
    """Return what stands around a share, as points."""
    return {key: 100 * record[key] for key in ("low", "high", "chance")}


def word_scores(found: Found, figure: str) -> list[WordScore]:
    """Return the records of Figure 4a or 4b."""
    asked = {code: counts["test"]["source_words_kept"] for code, counts in found["counts"][figure].items()}
    return [
        WordScore(
            language=r["language"],
            vectors=VECTORS[r["vectors"]],
            layer=r["layer"],
            seed=seed,
            p1=p1,
            **in_points(unanimous(r, asked[r["language"]])),
            pairs=r["pairs"],
        )
        for r, seed, p1 in by_seed(found)
        if r["figure"] == figure
    ]


def unanimous(record: Found, asked: int) -> Found:
    """Return a record with an interval even where all or none of so many words are right."""
    reach = unanimous_reach(asked)
    ends = {0.0: {"low": 0.0, "high": reach}, 1.0: {"low": 1 - reach, "high": 1.0}}
    return {**record, **ends.get(record["p1"], {})}


def sentence_scores(found: Found) -> list[SentenceScore]:
    """Return the records of Figure 6: retrieval after mapping."""
    return [
        SentenceScore(
            language=r["language"],
            model=MODELS[r["encoders"]],
            direction=r["direction"],
            layer=r["layer"],
            seed=seed,
            p1=p1,
            **in_points(r),
        )
        for r, seed, p1 in by_seed(found)
        if r["space"] == "mapped"
    ]


def cka_scores(found: Found) -> list[CkaScore]:
    """Return the records of Figure 7; an older result has no more than the means of its layers."""
    made = []
    for r in found["records"]:
        seeds, about = seeds_of(found, r, "pair", "model"), {"pair": r["pair"], "model": r["model"]}
        made += [CkaScore(layer=AVERAGE, seed=s, cka=v, **about) for s, v in zip(seeds, r["by_seed"], strict=True)]
        for layer in range(len(r["cka"]) - 1):
            values = [own[layer] for own in r.get("layers_by_seed", [])] or [r["cka"][f"L{layer}"]]
            known = seeds if "layers_by_seed" in r else [None]
            made += [CkaScore(layer=f"L{layer}", seed=s, cka=v, **about) for s, v in zip(known, values, strict=True)]
    return made


def matrix_scores(records: Iterable[Found]) -> list[LayerPair]:
    """Return every layer of one encoder against every layer of the other."""
    return [
        LayerPair(r["pair"], r["model"], i, j, value)
        for r in records
        for i, row in enumerate(r["matrix"])
        for j, value in enumerate(row)
    ]


def read_analysis(path: Path, plan: Found) -> Found:
    """Return what an analysis found, which must be of the plan's configuration, and the seeds of its records."""
    result: Found = read_result(path, plan["config"])
    if "records" not in result:
        raise InputError(path, "not the result of an analysis")
    return {**result, "seeds": planned_seeds(plan)}


def collect(found: Mapping[str, Found], out: Path) -> None:
    """Write the records of the analyses that were made."""
    if "words" in found:
        for figure in ("figure4a", "figure4b"):
            write_records(out / f"{figure}.csv", WordScore, word_scores(found["words"], figure))
    if "sentences" in found:
        write_records(out / "figure6.csv", SentenceScore, sentence_scores(found["sentences"]))
    if "cka" in found:
        write_records(out / "figure7.csv", CkaScore, cka_scores(found["cka"]))
        write_records(out / "cka_matrix.csv", LayerPair, matrix_scores(found["cka"]["records"]))


def main() -> None:
    """Collect the analyses into records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analysis", action="append", required=True, metavar="NAME=FILE", help="words, sentences, cka")
    parser.add_argument("--plan", action="append", default=[], metavar="NAME=FILE", help="what it was given")
    parser.add_argument("--out-dir", type=Path, required=True)
    args = parser.parse_args()
    files, plans = named_paths(args.analysis, "--analysis", "NAME=FILE"), named_paths(args.plan, "--plan", "NAME=FILE")
    if set(files) != set(plans):
        raise XlingError("--analysis and --plan must name the same analyses")
    found = {name: read_analysis(path, read_json(plans[name])) for name, path in files.items()}
    collect(found, args.out_dir)
    log_to_stderr(__name__).info("records of %s in %s", ", ".join(found), args.out_dir)


if __name__ == "__main__":
    run(main)
