"""Turn the results of the analyses of section 5 into records: Figures 4a, 4b, 6 and 7, and CKA matrices.

python -m xling.report.record_alignment --analysis words=words.json --analysis cka=cka.json \\
    --plan words=plans/words.json --plan cka=plans/cka.json --out-dir records

A plan is the input of an analysis: it lists the seeds and gives the configuration hash that the result must have.
Shares become points from 0 to 100.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling.core.cli import named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.io import read_json
from xling.core.log import log_to_stderr
from xling.core.results import read_result
from xling.core.stats import unanimous_reach
from xling.report.models import AVERAGE, BERT, FASTTEXT, MONOLINGUAL, UNTRAINED
from xling.report.records import CkaScore, LayerPair, SentenceScore, WordScore, write_records

Found = Mapping[str, Any]
Seeds = Mapping[tuple[str, ...], list[int]]
VECTORS = {"trained": BERT, "untrained": UNTRAINED, "fasttext": FASTTEXT}
MODELS = {"trained": MONOLINGUAL, "untrained": UNTRAINED}


def planned_seeds(plan: Found) -> dict[tuple[str, ...], list[int]]:
    """Return the seeds behind each record of an analysis, by language, or by pair and kind of model."""
    folders: dict[tuple[str, ...], list[str]]
    if "comparisons" in plan:
        rows = plan["comparisons"]
        folders = {(r["pair"], r["model"]): [sides[0]["folder"] for sides in r["seeds"]] for r in rows}
    else:
        languages = plan["languages"].items()
        folders = {(code,): [pair[plan["source"]] for pair in own["seeds"]] for code, own in languages}
    # The folder of an encoder's hidden states is named after the encoder, for example en.mono.s1.
    return {key: [int(Path(folder).name.rpartition(".s")[2]) for folder in own] for key, own in folders.items()}


def by_seed(record: Found, seeds: Seeds, *key: str) -> list[tuple[int | None, float]]:
    """Return the seeds of a record with their values; the seed of fastText is None."""
    names = tuple(record[name] for name in key)
    own: list[Any] = [None] if record.get("vectors") == "fasttext" else seeds.get(names, [])
    if len(own) != len(record["by_seed"]):
        raise XlingError(f"{' '.join(names)}: {len(record['by_seed'])} seeds, planned are {len(own)} (run it again)")
    return list(zip(own, record["by_seed"], strict=True))


def in_points(records: Iterable[Found], seeds: Seeds) -> Iterator[tuple[Found, dict[str, Any]]]:
    """Yield each record once per seed, with the fields that words and sentences have in common, shares in points."""
    for r in records:
        around = {key: 100 * r[key] for key in ("low", "high", "chance")}
        for seed, share in by_seed(r, seeds, "language"):
            yield r, {"language": r["language"], "layer": r["layer"], "seed": seed, "p1": 100 * share, **around}


def unanimous(record: Found, asked: int) -> Found:
    """Return a record; if all or none of the `asked` words are right, it gets an interval of positive width."""
    reach = unanimous_reach(asked)
    ends = {0.0: {"low": 0.0, "high": reach}, 1.0: {"low": 1 - reach, "high": 1.0}}
    return {**record, **ends.get(record["p1"], {})}


def word_scores(found: Found, seeds: Seeds, figure: str) -> list[WordScore]:
    """Return the records of Figure 4a or 4b."""
    asked = {code: counts["test"]["source_words_kept"] for code, counts in found["counts"][figure].items()}
    own = [unanimous(r, asked[r["language"]]) for r in found["records"] if r["figure"] == figure]
    return [WordScore(vectors=VECTORS[r["vectors"]], pairs=r["pairs"], **p1) for r, p1 in in_points(own, seeds)]


def sentence_scores(found: Found, seeds: Seeds) -> list[SentenceScore]:
    """Return the records of Figure 6: retrieval after mapping."""
    return [
        SentenceScore(model=MODELS[r["encoders"]], direction=r["direction"], **p1)
        for r, p1 in in_points(found["records"], seeds)
        if r["space"] == "mapped"
    ]


def cka_scores(found: Found, seeds: Seeds) -> list[CkaScore]:
    """Return the records of Figure 7: for each seed the average over layers, then each layer."""
    made = []
    for r in found["records"]:
        averages = by_seed(r, seeds, "pair", "model")
        values = [(AVERAGE, seed, value) for seed, value in averages]
        for n, layer in enumerate(zip(*r["layers_by_seed"], strict=True)):
            values += [(f"L{n}", seed, value) for (seed, _), value in zip(averages, layer, strict=True)]
        made += [CkaScore(layer=name, pair=r["pair"], model=r["model"], seed=s, cka=v) for name, s, v in values]
    return made


def matrix_scores(found: Found) -> list[LayerPair]:
    """Return the similarity of every layer of one encoder to every layer of the other."""
    return [
        LayerPair(r["pair"], r["model"], i, j, value)
        for r in found["records"]
        for i, row in enumerate(r["matrix"])
        for j, value in enumerate(row)
    ]


def records_of(name: str, found: Found, seeds: Seeds) -> dict[str, tuple[type[Any], Sequence[Any]]]:
    """Return the records of an analysis and their kind, by the name of the file to write."""
    if name == "words":
        return {figure: (WordScore, word_scores(found, seeds, figure)) for figure in ("figure4a", "figure4b")}
    if name == "sentences":
        return {"figure6": (SentenceScore, sentence_scores(found, seeds))}
    return {"figure7": (CkaScore, cka_scores(found, seeds)), "cka_matrix": (LayerPair, matrix_scores(found))}


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
    made: dict[str, tuple[type[Any], Sequence[Any]]] = {}
    for name, path in files.items():
        plan = read_json(plans[name])
        found = read_result(path, plan["config"])
        try:
            made |= records_of(name, found, planned_seeds(plan))
        except KeyError as key:
            raise InputError(path, f"not the result of an analysis: no {key}", fix="delete it and run again") from None
    for figure, (kind, records) in made.items():
        write_records(args.out_dir / f"{figure}.csv", kind, records)
    log_to_stderr(__name__).info("records of %s in %s", ", ".join(files), args.out_dir)


if __name__ == "__main__":
    run(main)
