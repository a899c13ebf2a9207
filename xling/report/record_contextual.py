"""Collect the results of the jobs of Figures 5 and 8 into records, including floors.

python -m xling.report.record_contextual --result en.mono.s1=a.json --result en.untrained.s1=b.json … \
    --hash en.mono.s1=H … --figure5 figure5.csv --figure8 figure8.csv

A floor is the score of untrained encoders of the same kind: monolingual encoders for a score of monolingual encoders,
and a bilingual encoder for a score of a bilingual encoder, with a map if and only if the score was obtained with one.
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xling.core.cli import named, named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.log import log_to_stderr
from xling.core.results import read_result
from xling.report.models import BI_MLM, BI_MLM_ALIGN, MLM_ALIGN, TRAINED, UNTRAINED
from xling.report.records import ContextualScore, write_records

KEYS = {"untrained", "models", "source", "seed", "trainings"}


def rows_of(result: Mapping[str, Any]) -> Iterator[ContextualScore]:
    """Yield the scores of a job with the intervals of their test items; the source language is left out."""
    encoder, seed = UNTRAINED if result["untrained"] else TRAINED, result["seed"]
    monolingual = len(set(result["models"].values())) > 1  # a bilingual encoder is the same for both languages
    for training in result["trainings"]:
        series = MLM_ALIGN if monolingual else BI_MLM_ALIGN if training["way"] == "aligned" else BI_MLM
        about = {key: training[key] for key in ("task", "layer")} | {"series": series, "encoder": encoder, "seed": seed}
        for code, found in training["scores"].items():
            if code != result["source"]:
                yield ContextualScore(language=code, **about, **{key: found[key] for key in ("score", "low", "high")})


def read_jobs(results: Mapping[str, Path], hashes: Mapping[str, str]) -> list[ContextualScore]:
    """Return all scores; each needs a floor: an untrained score with the same task, language, series and layer."""
    made: list[ContextualScore] = []
    for name, path in results.items():
        result = read_result(path, hashes[name])
        if not result.keys() >= KEYS:
            raise InputError(path, "not the result of a contextual transfer job", fix="run the job again")
        made += rows_of(result)
    floors = {(x.task, x.language, x.series, x.layer) for x in made if x.encoder == UNTRAINED}
    for x in made:
        if (x.task, x.language, x.series, x.layer) not in floors:
            what = f"{x.task} {x.language} layer {x.layer}: no untrained {x.series} beside it"
            raise XlingError(f"{what} (run that job again)")
    return made


def main() -> None:
    """Write the records of both figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--result", action="append", required=True, metavar="JOB=FILE")
    parser.add_argument("--hash", action="append", required=True, metavar="JOB=HASH", help="refuse any other")
    parser.add_argument("--figure5", type=Path, required=True)
    parser.add_argument("--figure8", type=Path, required=True)
    args = parser.parse_args()
    results, hashes = named_paths(args.result, "--result", "JOB=FILE"), named(args.hash, "--hash", "JOB=HASH")
    if set(results) != set(hashes):
        raise XlingError("--result and --hash must name the same jobs")
    found = read_jobs(results, hashes)
    for path, shown in ((args.figure5, (MLM_ALIGN, BI_MLM)), (args.figure8, (BI_MLM, BI_MLM_ALIGN))):
        own = sorted(
            (score for score in found if score.series in shown),
            key=lambda x: (x.task, x.language, shown.index(x.series), x.encoder, x.layer, x.seed),
        )
        write_records(path, ContextualScore, own)
        log_to_stderr(__name__).info("%s: %d records", path, len(own))


if __name__ == "__main__":
    run(main)
