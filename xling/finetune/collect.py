"""Merge the jobs of one model and task, select by the source language's dev set, and score (section 3.2 of the paper).

python -m xling.finetune.collect --results a.json b.json --config-hash H --out score.json
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xling.core.errors import InputError, XlingError, run
from xling.core.io import read_json, write_json
from xling.core.log import log_to_stderr
from xling.core.results import read_result
from xling.core.stats import LEVEL, interval
from xling.finetune.metrics import MEASURES, counts_of, mean_scores
from xling.finetune.settings import grid_points, read_settings

SAME = ("task", "model", "untrained", "source", "settings", "seed", "config", "sizes", "baseline")
Result = dict[str, Any]


def merge(paths: Sequence[Path], config: str | None) -> Result:
    """Return one result with the points of all, which must be parts of one whole and of this configuration."""
    results = [read_json(path) if config is None else read_result(path, config) for path in paths]
    for path, result in zip(paths, results, strict=True):
        if not isinstance(result, dict) or any(key not in result for key in (*SAME, "points")):
            raise InputError(path, "not the result of a fine-tuning job")
        for key in SAME:
            if result[key] != results[0][key]:
                raise InputError(path, f"another {key} than in {paths[0]}", fix="collect jobs of one model and task")
    points = sorted((point for result in results for point in result["points"]), key=lambda point: point["number"])
    return {**results[0], "points": points}


def check_whole(merged: Result) -> int:
    """Check that every point of the grid is there once, and return how many of them count."""
    settings, _ = read_settings(merged["settings"])
    numbers, last = [point["number"] for point in merged["points"]], len(grid_points(settings)) - 1
    if numbers != list(range(last + 1)):
        raise XlingError(f"{merged['model']} {merged['task']}: points {numbers} where 0 to {last} were expected")
    return settings.best


def select(dev: Mapping[int, float], best: int) -> list[int]:
    """Return the numbers of the best points by their dev score, best first; of equals the lower number."""
    if best > len(dev):
        raise XlingError(f"the score is the mean of {best} grid points, but there are {len(dev)}")
    return sorted(dev, key=lambda number: (-dev[number], number))[:best]


def summarise(merged: Result) -> Result:
    """Return selection, score, interval and baseline of each test language, and all points without their items."""
    chosen = select({point["number"]: point["dev_score"] for point in merged["points"]}, check_whole(merged))
    selected = [merged["points"][number] for number in chosen]
    languages = {code: _language(merged, selected, code) for code in selected[0]["test"]}
    about = {key: merged[key] for key in SAME if key != "baseline"}
    measure = next(iter(MEASURES[merged["task"]]))
    dev = float(np.mean([point["dev_score"] for point in selected]))
    points = [_without_items(point) for point in merged["points"]]
    return {**about, "measure": measure, "selected": chosen, "dev": dev, "languages": languages, "points": points}


def _language(merged: Result, selected: Sequence[Result], code: str) -> Result:
    name, measure = next(iter(MEASURES[merged["task"]].items()))
    counts = np.stack([counts_of(point["test"][code]) for point in selected])
    means = mean_scores([point["test"][code]["measures"] for point in selected])
    low, high = interval(counts, measure, merged["task"], merged["model"], code)
    baseline = merged["baseline"]["measures"][code]
    about = {"what": merged["baseline"]["what"], "score": baseline[name]}
    return {"score": means[name], "interval": [low, high], "level": LEVEL, "measures": means, "baseline": about}


def _without_items(point: Result) -> dict[str, Any]:
    return {**point, "test": {code: found["measures"] for code, found in point["test"].items()}}


def log_scores(summary: Result) -> None:
    """Log the score of each language."""
    for code, found in summary["languages"].items():
        log_to_stderr(__name__).info(
            "%s %s %s: %.2f [%.2f, %.2f], baseline %.2f",
            *(summary["model"], summary["task"], code, found["score"], *found["interval"], found["baseline"]["score"]),
        )


def main() -> None:
    """Collect results into a score."""
    args = parse_args()
    summary = summarise(merge(args.results, args.config_hash))
    write_json(args.out, summary)
    log_scores(summary)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, nargs="+", required=True, help="results of jobs, all points once")
    parser.add_argument("--config-hash", help="refuse results of any other configuration")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
