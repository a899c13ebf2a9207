"""Fine-tune an encoder on tasks in its source language and evaluate it on other languages (section 3.2 of the paper).

python -m xling.finetune.run --encoder model/ --vocab vocab/ --plan plan.json --seed 1 --work-below resume/ \
    --out-dir scores/

The plan is a JSON object with one entry per result:

    {"ner": {"task": "ner", "train": "en.train.jsonl", "dev": "en.dev.jsonl", "test": {"fr": "fr.test.jsonl"},
             "settings": {…}, "config": "a hash that the result carries"}}

Two files are written to --out-dir for each entry: jobs/NAME.json with all measurements, and NAME.json with the score
(see xling.finetune.collect). With "points": [0, 1] in an entry only these points of the task's grid run, and
xling.finetune.collect makes the score from the parts. Running several entries in one process avoids repeated start-up,
which takes as long as a small task.

--encoder is a folder with run.json, model.json and model.safetensors. With --untrained only run.json is needed: the
encoder is initialised and not trained, and its score is the floor that others are compared with.
A killed process resumes from its last finished epoch when it is started again with the same --work-below.
"""

import argparse
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError, XlingError, run
from xling.core.io import read_json, sha256_of, write_json
from xling.core.lock import Lock
from xling.core.log import log_to_stderr
from xling.finetune.collect import log_scores, summarise
from xling.finetune.data import Example, Speller, read_examples
from xling.finetune.settings import WHERE, Point, Settings, grid_points, read_settings
from xling.finetune.task import Result, Task
from xling.finetune.tasks import NAMES, make_task
from xling.finetune.trainer import Material, Target, baselines, run_points
from xling.model.device import local_device, use_one_thread
from xling.pretrain.config import Run, read_run
from xling.pretrain.trained import language_index, open_encoder

KEYS = ("task", "train", "dev", "test", "settings", "config")


@dataclass(frozen=True)
class Job:
    """One result of a plan; if `points` is None, the whole grid is run."""

    name: str
    task: str
    train: Path
    dev: Path
    test: dict[str, Path]
    settings: dict[str, Any]
    config: str
    points: list[int] | None = None

    def files(self) -> list[Path]:
        """Return the data that it reads."""
        return [self.train, self.dev, *self.test.values()]


def read_plan(path: Path, only: str | None = None) -> list[Job]:
    """Read and check a plan, or one entry of it."""
    plan = read_json(path)
    if not isinstance(plan, dict) or not plan:
        raise InputError(path, "expected an object with one entry per result")
    if only is not None and only not in plan:
        raise InputError(path, f"no entry {only!r} (it has {', '.join(plan)})")
    return [_job(name, entry, path) for name, entry in plan.items() if only in (None, name)]


def _job(name: str, entry: Any, path: Path) -> Job:
    wrong = set(entry) ^ set(KEYS) if isinstance(entry, dict) else set(KEYS)
    if wrong - {"points"}:
        fix = f"expected {', '.join(KEYS)} and, for a part of the grid, points"
        raise InputError(path, f"{name}: {', '.join(sorted(wrong))} missing or unknown", fix=fix)
    if entry["task"] not in NAMES:
        raise InputError(path, f"{name}.task: {entry['task']!r} is none of {', '.join(NAMES)}")
    if not isinstance(entry["test"], dict) or not entry["test"]:
        raise InputError(path, f"{name}.test: expected files by language, found {entry['test']!r}")
    test = {code: Path(file) for code, file in entry["test"].items()}
    return Job(**{**entry, "name": name, "train": Path(entry["train"]), "dev": Path(entry["dev"]), "test": test})


def chosen_points(job: Job, settings: Settings, plan: Path) -> list[Point]:
    """Return the points of the grid that a job runs."""
    points, wanted = grid_points(settings), job.points
    if wanted is None:
        return points
    if not isinstance(wanted, list) or not set(wanted) <= set(range(len(points))) or len(set(wanted)) < len(wanted):
        fix = f"expected different numbers from 0 to {len(points) - 1}"
        raise InputError(plan, f"{job.name}.points: {wanted}", fix=fix)
    return [points[number] for number in wanted]


def read_task(job: Job, plan: Path) -> tuple[Settings, Task]:
    """Return a job's training settings and its task; errors in the settings name their place in the plan."""
    try:
        settings, biaffine = read_settings(job.settings)
        return settings, make_task(job.task, biaffine)
    except XlingError as error:
        problem = str(error).removeprefix(f"{WHERE}: ")
        raise InputError(plan, f"{job.name}.settings: {problem}") from None


def read_set(path: Path, task: Task, vocabulary: Vocabulary, language: str, longest: int) -> list[Example]:
    """Read a task's file in one language."""
    return read_examples(path, partial(task.encode, speller=Speller(vocabulary, language, longest)))


def fine_tune(job: Job, args: argparse.Namespace, described: Run, vocabulary: Vocabulary, work: Path) -> Result:
    """Return everything that a job measures; the test sets are used only for the final evaluation."""
    settings, task = read_task(job, args.plan)
    points = chosen_points(job, settings, args.plan)
    encoder = open_encoder(args.encoder, described, vocabulary, args.seed if args.untrained else None)
    source, longest = described.selection_language, described.pretrain.length
    train, dev = (read_set(path, task, vocabulary, source, longest) for path in (job.train, job.dev))
    targets = [
        Target(code, language_index(described, code, f"{args.plan} {job.name}.test"),
               read_set(path, task, vocabulary, code, longest))
        for code, path in job.test.items()
    ]  # fmt: skip
    language = language_index(described, source, "selection_language")
    material = Material(task, settings, language, longest, train, dev, args.seed)
    results = run_points(encoder.to(local_device(args.device)), material, targets, points, work)
    sizes = {"train": len(train), "dev": len(dev), "test": {one.language: len(one.examples) for one in targets}}
    about = {"model": described.model, "source": source, "task": job.task, "untrained": args.untrained}
    made = {"settings": job.settings, "seed": args.seed, "config": job.config, "torch": torch.__version__}
    return about | made | {"sizes": sizes, "baseline": baselines(task, train, targets), "points": results}


def log_points(result: Mapping[str, Any]) -> None:
    """Log the scores of every point."""
    for point in result["points"]:
        scores = {code: next(iter(found["measures"].values())) for code, found in point["test"].items()}
        tests = ", ".join(f"{code} {value:.2f}" for code, value in scores.items())
        log_to_stderr(__name__).info(
            "%s point %d: dev %.2f, test %s", result["task"], point["number"], point["dev_score"], tests
        )


def work_folder(args: argparse.Namespace, jobs: list[Job], model: str) -> Path:
    """Return the resume directory, named by all that decides the results, so that no other plan resumes from it."""
    files = [args.encoder / "run.json", *sorted(args.vocab.iterdir()), *(path for job in jobs for path in job.files())]
    files += [] if args.untrained else [args.encoder / "model.safetensors"]
    decides = [(job.name, job.task, list(job.test), job.settings, job.config, job.points) for job in jobs]
    known = [decides, args.seed, args.untrained, [sha256_of(path) for path in files]]
    digest = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()
    work: Path = args.work_below / f"{model}.{'+'.join(job.name for job in jobs)}-{digest[:16]}"
    return work


def main() -> None:
    """Run all jobs of a plan and write their results when the last one is done."""
    args = parse_args()
    use_one_thread(local_device(args.device))
    jobs, described = read_plan(args.plan, args.only), read_run(args.encoder / "run.json")
    vocabulary = Vocabulary.load(args.vocab)
    work = work_folder(args, jobs, described.model)
    with Lock(work, args.wait_for_lock) as lock:
        results = []
        for job in jobs:
            results.append(fine_tune(job, args, described, vocabulary, work / job.name))
            log_points(results[-1])
        for job, result in zip(jobs, results, strict=True):
            write_json(args.out_dir / "jobs" / f"{job.name}.json", result)
            if job.points is None:
                write_json(args.out_dir / f"{job.name}.json", summary := summarise(result))
                log_scores(summary)
        lock.remove_folder()


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of a pretrained model")
    parser.add_argument("--untrained", action="store_true", help="initialise the encoder from the seed instead")
    parser.add_argument("--vocab", type=Path, required=True, help="vocabulary directory")
    parser.add_argument("--plan", type=Path, required=True, help="JSON file: tasks, their data and settings")
    parser.add_argument("--only", metavar="NAME", help="the one entry of the plan to run; otherwise all of them")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--work-below", type=Path, required=True, help="where the directory to resume from is made")
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--wait-for-lock", action="store_true", help="wait while another process runs this plan")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
