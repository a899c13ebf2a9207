"""Collect the jobs of Figures 5 and 8 into records, floors among them.

python -m xling.report.record_contextual --result en.mono.s1=a.json --result en.untrained.s1=b.json … \
    --hash en.mono.s1=H … --figure5 figure5.csv --figure8 figure8.csv

A floor is of the same kind as its score: monolingual encoders beside monolingual ones, one encoder with the vocabulary
of both languages beside such a one, and each shown in the same way, with a map or without.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from xling.align.contextual_scores import pool
from xling.core.cli import named, named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.log import log_to_stderr
from xling.core.results import read_result
from xling.report.records import (
    BI_MLM,
    BI_MLM_ALIGN,
    MLM_ALIGN,
    TRAINED,
    UNTRAINED,
    ContextualScore,
    write_records,
)

Result = Mapping[str, Any]
KEYS = ("untrained", "models", "source", "seed", "trainings")


def read_job(path: Path, config: str) -> Result:
    """Read a job's result, which must be of this configuration."""
    result: Result = read_result(path, config)
    if any(key not in result for key in KEYS):
        raise InputError(path, "not the result of a contextual transfer job", fix="run the job again")
    return result


def series_of(result: Result, way: str) -> str:
    """Return which curve a training belongs to: one model for both languages is the bilingual one."""
    if len(set(result["models"].values())) > 1:
        return MLM_ALIGN
    return BI_MLM_ALIGN if way == "aligned" else BI_MLM


def rows_of(result: Result) -> Iterator[ContextualScore]:
    """Yield a job's scores with the intervals of their test items; the source language is in no figure."""
    for training in result["trainings"]:
        task, way, layer = (training[key] for key in ("task", "way", "layer"))
        for code in (code for code in training["scores"] if code != result["source"]):
            found = pool(task, [training["scores"][code]], way, code, layer)
            yield ContextualScore(
                task=task,
                language=code,
                series=series_of(result, way),
                encoder=UNTRAINED if result["untrained"] else TRAINED,
                layer=layer,
                seed=result["seed"],
                **{key: found[key] for key in ("score", "low", "high")},
            )


def records(results: Iterable[Result]) -> list[ContextualScore]:
    """Return every score; each of a trained encoder must have its floor: the same of an untrained one, of any seed."""
    made = [row for result in results for row in rows_of(result)]
    floors = {(x.task, x.language, x.series, x.layer) for x in made if x.encoder == UNTRAINED}
    for x in made:
        if (x.task, x.language, x.series, x.layer) not in floors:
            place = f"{x.task} {x.language} layer {x.layer}"
            raise XlingError(f"{place}: no untrained {x.series} beside it (run that job again)")
    return made


def main() -> None:
    """Write the records of both figures."""
    args = parse_args()
    results, hashes = named_paths(args.result, "--result", "JOB=FILE"), named(args.hash, "--hash", "JOB=HASH")
    if set(results) != set(hashes):
        raise XlingError("--result and --hash must name the same jobs")
    found = records([read_job(path, hashes[name]) for name, path in results.items()])
    for path, shown in ((args.figure5, (MLM_ALIGN, BI_MLM)), (args.figure8, (BI_MLM, BI_MLM_ALIGN))):
        own = sorted(
            (score for score in found if score.series in shown),
            key=lambda x: (x.task, x.language, shown.index(x.series), x.encoder, x.layer, x.seed),
        )
        write_records(path, ContextualScore, own)
        log_to_stderr(__name__).info("%s: %d records", path, len(own))


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--result", action="append", required=True, metavar="JOB=FILE")
    parser.add_argument("--hash", action="append", required=True, metavar="JOB=HASH", help="refuse any other")
    parser.add_argument("--figure5", type=Path, required=True)
    parser.add_argument("--figure8", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
