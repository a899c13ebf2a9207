"""From the scores of fine-tuned encoders to the records of Table 1 and Figure 3, floors among them.

python -m xling.report.record_transfer --plan plan.json --scores transfer/ \
    --cells figure3.csv --items items.npz --settings settings.csv --examples examples.csv --long transfer.csv

The plan says which encoders there are: `settings` (rows of Table 1), `models` and `floors`, lists of objects with
model, setting (its label), pair, seed, config (the expected hash of each task) and, for models, floor. The score of a
task is MODEL/TASK.json below --scores, as xling.finetune.fine_tune writes it; the counts of its test sentences are in
MODEL/jobs/TASK.json and go into --items, see xling.report.items. `--long` gets every score of every seed, English
included.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from xling.core.errors import InputError, run
from xling.core.io import read_json
from xling.core.log import log_to_stderr
from xling.core.results import read_result
from xling.core.stats import Counts
from xling.finetune.metrics import counts_of
from xling.report.items import Key, write_items
from xling.report.names import other_language
from xling.report.records import Cell, Examples, Setting, write_records

KEYS = {"model", "task", "config", "measure", "selected", "dev", "seed", "source", "untrained", "sizes", "languages"}
DECIMALS = 3
Score = Mapping[str, Any]
Scores = Mapping[tuple[str, str], Score]  # by model and task
Planned = Mapping[str, Any]


@dataclass(frozen=True)
class Scored:
    """One encoder's score in one language; `selected` are the grid points it is the mean of, best on English dev first.

    `chance` is what one scores without reading the text (majority class and the like), `floor` the untrained encoder's.
    """

    KEY: ClassVar = ("model", "task", "language")
    model: str
    setting: str
    pair: str
    task: str
    seed: int
    language: str
    measure: str
    score: float
    low: float
    high: float
    floor: float
    chance: float
    english_dev: float
    selected: str

    @property
    def rounded(self) -> "Scored":
        """The same for people to read."""
        numbers: dict[str, Any] = {k: round(v, DECIMALS) for k, v in asdict(self).items() if isinstance(v, float)}
        return replace(self, **numbers)


def read_score(path: Path, planned: Planned, task: str) -> Score:
    """Read the score of a task, which must be of this encoder and of this configuration."""
    score: Score = read_result(path, planned["config"][task])
    if not score.keys() >= KEYS:
        raise InputError(path, "not the score of a fine-tuned encoder", fix="run its job again")
    found, wanted = (score["model"], score["task"]), (planned["model"], task)
    if found != wanted:
        raise InputError(path, f"the score of {' '.join(found)}, not of {' '.join(wanted)}", fix="run its job again")
    return score


def read_all(folder: Path, planned: Iterable[Planned]) -> dict[tuple[str, str], Score]:
    """Return the scores of all encoders by name and task."""
    return {
        (one["model"], task): read_score(folder / one["model"] / f"{task}.json", one, task)
        for one, task in _jobs(planned)
    }


def _jobs(planned: Iterable[Planned]) -> Iterator[tuple[Planned, str]]:
    return ((encoder, task) for encoder in planned for task in encoder["config"])


def rows_of(planned: Iterable[Planned], scores: Scores) -> Iterator[Scored]:
    """Yield the scores of encoders in each language of a task beside those of their floors; a floor is its own."""
    for one, task in _jobs(planned):
        score, floor = scores[one["model"], task], scores[one.get("floor", one["model"]), task]
        for code, found in score["languages"].items():
            yield Scored(
                model=one["model"],
                setting=one["setting"],
                pair=one["pair"],
                task=task,
                seed=one["seed"],
                language=code,
                measure=score["measure"],
                score=found["score"],
                low=found["interval"][0],
                high=found["interval"][1],
                floor=floor["languages"][code]["score"],
                chance=found["baseline"]["score"],
                english_dev=score["dev"],
                selected=" ".join(map(str, score["selected"])),
            )


def examples(planned: Iterable[Planned], scores: Scores) -> list[Examples]:
    """Return how many examples each task had for each of the other languages."""
    found = {}
    for one, task in _jobs(planned):
        sizes, code = scores[one["model"], task]["sizes"], other_language(one["pair"])
        found[task, code] = Examples(task, code, sizes["train"], sizes["dev"], sizes["test"][code])
    return list(found.values())


def items(folder: Path, planned: Iterable[Planned], scores: Scores) -> dict[Key, Counts]:
    """Return the counts of the test sentences behind every score in the other language, at its selected points."""
    found = {}
    for one, task in _jobs(planned):
        path, code = folder / one["model"] / f"jobs/{task}.json", other_language(one["pair"])
        job, selected = read_result(path, one["config"][task]), scores[one["model"], task]["selected"]
        points = {point["number"]: point["test"][code] for point in job.get("points", ())}
        if not points.keys() >= set(selected):
            raise InputError(path, f"no counts at the points {selected}", fix="run its job again")
        found[task, code, one["setting"], one["seed"]] = np.stack([counts_of(points[number]) for number in selected])
    return found


def cells(rows: Iterable[Scored], floors: Mapping[str, str]) -> list[Cell]:
    """Return every seed's transfer to the other language, with the label of the floor of each model that has one."""
    return [
        Cell(
            setting=row.setting,
            task=row.task,
            language=row.language,
            seed=row.seed,
            score=row.score,
            low=row.low,
            high=row.high,
            chance=row.chance,
            floor=floors.get(row.model, ""),
        )
        for row in rows
        if row.language == other_language(row.pair)
    ]


def main() -> None:
    """Collect a study's scores."""
    args = parse_args()
    plan = read_json(args.plan)
    scores = read_all(args.scores, [*plan["models"], *plan["floors"]])
    models, floors = (list(rows_of(plan[kind], scores)) for kind in ("models", "floors"))
    labels = {one["model"]: one["setting"] for one in plan["floors"]}
    found = cells([*models, *floors], {one["model"]: labels[one["floor"]] for one in plan["models"]})
    write_items(args.items, items(args.scores, [*plan["models"], *plan["floors"]], scores))
    write_records(args.cells, Cell, found)
    write_records(args.settings, Setting, [Setting(**row) for row in plan["settings"]])
    write_records(args.examples, Examples, examples(plan["models"], scores))
    write_records(args.long, Scored, [row.rounded for row in (*models, *floors)])
    counts = len(found), len(plan["models"]), len(plan["floors"])
    log_to_stderr(__name__).info("%d scores of %d encoders and %d floors", *counts)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", type=Path, required=True, help="which encoders there are, see above")
    parser.add_argument("--scores", type=Path, required=True, help="folder of the scores")
    parser.add_argument("--cells", type=Path, required=True, help="records of Table 1 and Figure 3, written")
    parser.add_argument("--items", type=Path, required=True, help="counts of every test sentence, written")
    parser.add_argument("--settings", type=Path, required=True, help="records of the rows of Table 1, written")
    parser.add_argument("--examples", type=Path, required=True, help="how many examples each task had, written")
    parser.add_argument("--long", type=Path, required=True, help="every score of every seed, written")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
