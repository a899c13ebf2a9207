"""Collect the scores of fine-tuned encoders into the records of Table 1 and Figure 3, including floors.

python -m xling.report.record_transfer --plan plan.json --scores transfer/ \
    --cells figure3.csv --items items.npz --settings settings.csv --examples examples.csv --long transfer.csv

The plan lists `settings` (the rows of Table 1) and the encoders: `models` and `floors` (untrained encoders) are lists
of objects with model, setting (its label), pair, seed, config (the expected hash of each task) and, for models, floor.
The score of a task is in MODEL/TASK.json below --scores, as xling.finetune.fine_tune writes it. The counts of its test
sentences are in MODEL/jobs/TASK.json and are written to --items, see xling.report.items. `--long` gets every score of
every seed, including English.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xling.core.errors import InputError, run
from xling.core.io import read_json, write_text
from xling.core.log import log_to_stderr
from xling.core.results import read_result
from xling.core.stats import Counts
from xling.finetune.metrics import counts_of
from xling.report.items import Key, write_items
from xling.report.names import other_language
from xling.report.records import Cell, Examples, Setting, write_records

KEYS = {
    "model", "task", "config", "measure", "selected", "dev", "seed", "source", "untrained", "sizes", "settings",
    "languages",
}  # fmt: skip
CELL = ("setting", "task", "language", "seed", "score", "low", "high", "chance")
DECIMALS = 3
Planned = Mapping[str, Any]
Score = Mapping[str, Any]
Job = tuple[Planned, str, Score]  # an encoder, a task and its score


def read_score(path: Path, planned: Planned, task: str) -> Score:
    """Read the score of a task and check that it belongs to this encoder and this configuration."""
    score: Score = read_result(path, planned["config"][task])
    if not score.keys() >= KEYS:
        raise InputError(path, "not the score of a fine-tuned encoder", fix="run its job again")
    found, wanted = (score["model"], score["task"]), (planned["model"], task)
    if found != wanted:
        raise InputError(path, f"the score of {' '.join(found)}, not of {' '.join(wanted)}", fix="run its job again")
    return score


def rows_of(jobs: Iterable[Job]) -> Iterator[dict[str, Any]]:
    """Yield the score of each encoder in each language of a task, with its floor; a floor is its own floor.

    `floor` is the score of the untrained encoder. `chance` is the score without reading the text, for example of the
    majority class. `selected` lists the grid points that the score is a mean of, best on English dev first.
    """
    known = list(jobs)
    scores = {(one["model"], task): score for one, task, score in known}
    for one, task, score in known:
        floor = scores[one.get("floor", one["model"]), task]["languages"]
        for code, found in score["languages"].items():
            row = {key: one[key] for key in ("model", "setting", "pair")}
            row |= {"task": task, "seed": one["seed"], "language": code, "measure": score["measure"]}
            row |= {"score": found["score"], **dict(zip(("low", "high"), found["interval"], strict=True))}
            row |= {"floor": floor[code]["score"], "chance": found["baseline"]["score"]}
            yield row | {"english_dev": score["dev"], "selected": " ".join(map(str, score["selected"]))}


def cells(rows: Iterable[Mapping[str, Any]], floors: Mapping[str, str]) -> list[Cell]:
    """Return the transfer of every seed to the other language; `floors` has the label of each model's floor."""
    return [
        Cell(**{key: row[key] for key in CELL}, floor=floors.get(row["model"], ""))
        for row in rows
        if row["language"] == other_language(row["pair"])
    ]


def examples(jobs: Iterable[Job]) -> list[Examples]:
    """Return how many examples each task used for each language; short epochs may not reach all training examples."""
    found = {}
    for one, task, score in jobs:
        sizes, settings, code = score["sizes"], score["settings"], other_language(one["pair"])
        reached = settings["epochs"] * (settings["examples_per_epoch"] or sizes["train"])
        found[task, code] = Examples(task, code, min(reached, sizes["train"]), sizes["dev"], sizes["test"][code])
    return list(found.values())


def items(folder: Path, jobs: Iterable[Job]) -> dict[Key, Counts]:
    """Return the counts of the test sentences in the other language at the selected grid points of every score."""
    found = {}
    for one, task, score in jobs:
        path, code = folder / one["model"] / f"jobs/{task}.json", other_language(one["pair"])
        job, selected = read_result(path, one["config"][task]), score["selected"]
        points = {point["number"]: point["test"][code] for point in job.get("points", ())}
        if not points.keys() >= set(selected):
            raise InputError(path, f"no counts at the points {selected}", fix="run its job again")
        found[task, code, one["setting"], one["seed"]] = np.stack([counts_of(points[number]) for number in selected])
    return found


def main() -> None:
    """Collect the scores of a study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", type=Path, required=True, help="which encoders there are, see above")
    parser.add_argument("--scores", type=Path, required=True, help="folder of the scores")
    parser.add_argument("--cells", type=Path, required=True, help="records of Table 1 and Figure 3, written")
    parser.add_argument("--items", type=Path, required=True, help="counts of every test sentence, written")
    parser.add_argument("--settings", type=Path, required=True, help="records of the rows of Table 1, written")
    parser.add_argument("--examples", type=Path, required=True, help="how many examples each task used, written")
    parser.add_argument("--long", type=Path, required=True, help="every score of every seed, written")
    args = parser.parse_args()
    plan = read_json(args.plan)
    jobs = [
        (one, task, read_score(args.scores / one["model"] / f"{task}.json", one, task))
        for one in (*plan["models"], *plan["floors"])
        for task in one["config"]
    ]
    labels, rows = {one["model"]: one["setting"] for one in plan["floors"]}, list(rows_of(jobs))
    found = cells(rows, {one["model"]: labels[one["floor"]] for one in plan["models"]})
    write_items(args.items, items(args.scores, jobs))
    write_records(args.cells, Cell, found)
    write_records(args.settings, Setting, [Setting(**row) for row in plan["settings"]])
    write_records(args.examples, Examples, examples(job for job in jobs if "floor" in job[0]))
    with write_text(args.long, sealed=True) as handle:
        rounded = [{k: round(v, DECIMALS) if isinstance(v, float) else v for k, v in row.items()} for row in rows]
        pd.DataFrame(rounded, dtype=object).to_csv(handle, index=False, lineterminator="\n")
    counts = len(found), len(plan["models"]), len(plan["floors"])
    log_to_stderr(__name__).info("%d scores of %d encoders and %d floors", *counts)


if __name__ == "__main__":
    run(main)
