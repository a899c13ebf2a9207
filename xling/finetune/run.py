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
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
from pydantic import Field

from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError, run
from xling.core.io import read_json, sha256_of, write_json
from xling.core.lock import Lock
from xling.core.log import log_to_stderr
from xling.core.records import Size, find_problems, read_record, record, refuse
from xling.core.results import hashed
from xling.finetune.collect import log_scores, summarise
from xling.finetune.data import Example, Speller, read_examples
from xling.finetune.settings import Settings, grid_points, read_settings
from xling.finetune.task import Result, Task
from xling.finetune.tasks import make_task
from xling.finetune.trainer import Material, Target, baselines, run_points
from xling.model.device import local_device, use_one_thread
from xling.pretrain.config import Run, read_run
from xling.pretrain.trained import language_index, open_encoder


@record
class Job:
    """One result of a plan; without `points` the whole grid is run."""

    task: Literal["xnli", "ner", "parsing", "pos"]
    train: Path
    dev: Path
    test: Annotated[dict[str, Path], Field(min_length=1)]
    settings: dict[str, Any]  # as the result carries them
    config: str
    points: tuple[Size, ...] | None = None

    def __post_init__(self) -> None:
        refuse(f"settings.{problem}" for problem in find_problems(Settings, self.settings))
        last = len(grid_points(self.read_settings)) - 1
        if self.task == "parsing" and self.read_settings.biaffine is None:
            refuse(["settings.biaffine: missing key, which parsing needs"])
        if self.points is not None and (len(set(self.points)) < len(self.points) or max(self.points, default=0) > last):
            refuse([f"points: expected different numbers from 0 to {last}, found {list(self.points)}"])

    @cached_property
    def read_settings(self) -> Settings:
        """The settings that this module works with."""
        return read_settings(self.settings)[0]

    def files(self) -> list[Path]:
        """Return the data that it reads."""
        return [self.train, self.dev, *self.test.values()]


def read_plan(path: Path, only: str | None = None) -> dict[str, Job]:
    """Read and check a plan, or one entry of it."""
    plan = read_record(dict[str, Job], read_json(path), path)
    if not plan or only not in (None, *plan):
        raise InputError(path, f"no entry {only or 'at all'} (it has {', '.join(plan) or 'none'})")
    return {name: job for name, job in plan.items() if only in (None, name)}


def read_set(path: Path, task: Task, vocabulary: Vocabulary, language: str, longest: int) -> list[Example]:
    """Read a task's file in one language."""
    return read_examples(path, partial(task.encode, speller=Speller(vocabulary, language, longest)))


def fine_tune(
    job: Job, name: str, args: argparse.Namespace, described: Run, vocabulary: Vocabulary, work: Path
) -> Result:
    """Return everything that a job measures; the test sets are used only for the final evaluation."""
    settings, source, longest = job.read_settings, described.selection_language, described.pretrain.length
    task, points = make_task(job.task, settings.biaffine), grid_points(settings)
    encoder = open_encoder(args.encoder, described, vocabulary, args.seed if args.untrained else None)
    train, dev = (read_set(path, task, vocabulary, source, longest) for path in (job.train, job.dev))
    targets = [
        Target(code, language_index(described, code, f"{args.plan} {name}.test"),
               read_set(path, task, vocabulary, code, longest))
        for code, path in job.test.items()
    ]  # fmt: skip
    language = language_index(described, source, "selection_language")
    material = Material(task, settings, language, longest, train, dev, args.seed)
    chosen = points if job.points is None else [points[number] for number in job.points]
    results = run_points(encoder.to(local_device(args.device)), material, targets, chosen, work)
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


def work_folder(args: argparse.Namespace, jobs: Mapping[str, Job], model: str) -> Path:
    """Return the resume directory, named by all that decides the results, so that no other plan resumes from it."""
    files = [args.encoder / "run.json", *sorted(args.vocab.iterdir())]
    files += [path for job in jobs.values() for path in job.files()]
    files += [] if args.untrained else [args.encoder / "model.safetensors"]
    decides = [
        (name, job.task, list(job.test), job.settings, job.config, job.points and list(job.points))
        for name, job in jobs.items()
    ]
    known = [decides, args.seed, args.untrained, [sha256_of(path) for path in files]]
    work: Path = args.work_below / f"{model}.{'+'.join(jobs)}-{hashed(known)}"
    return work


def main() -> None:
    """Run all jobs of a plan and write their results when the last one is done."""
    args = parse_args()
    use_one_thread(local_device(args.device))
    jobs, described = read_plan(args.plan, args.only), read_run(args.encoder / "run.json")
    vocabulary = Vocabulary.load(args.vocab)
    work = work_folder(args, jobs, described.model)
    with Lock(work, args.wait_for_lock) as lock:
        results = {}
        for name, job in jobs.items():
            results[name] = fine_tune(job, name, args, described, vocabulary, work / name)
            log_points(results[name])
        for name, result in results.items():
            write_json(args.out_dir / "jobs" / f"{name}.json", result)
            if jobs[name].points is None:
                write_json(args.out_dir / f"{name}.json", summary := summarise(result))
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
