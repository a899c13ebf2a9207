"""Fine-tune an encoder on tasks in its source language and evaluate it on other languages (section 3.2 of the paper).

python -m xling.finetune.fine_tune --encoder model/ --vocab vocab/ --plan plan.json --seed 1 --work-root resume/ \
    --out-dir scores/

The plan is a JSON object with one entry per task:

    {"ner": {"task": "ner", "train": "en.train.jsonl", "dev": "en.dev.jsonl", "test": {"fr": "fr.test.jsonl"},
             "settings": {…}, "config": "a hash that the result carries"}}

Two files are written to --out-dir for each entry: jobs/NAME.json with all measurements, and NAME.json with the score
(see xling.finetune.metrics.summarise). The grid points of all tasks share the GPU: up to six train at a time, fewer if
memory is short. This number does not affect the scores.

--encoder is a folder with run.json, model.json and model.safetensors. With --untrained only run.json is needed: the
encoder is randomly initialised and not pretrained. Its score is the reference for pretrained encoders.
After a kill, run the same command with the same --work-root: finished grid points are kept, and each of the others
resumes from its last saved epoch.
"""

import argparse
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError, run
from xling.core.io import read_json, sha256_of, write_json
from xling.core.lock import Lock
from xling.core.log import log_to_stderr
from xling.core.records import find_problems, read_record, record, refuse
from xling.core.results import hashed
from xling.finetune.metrics import Result, summarise
from xling.finetune.settings import Settings, grid_points, read_settings
from xling.finetune.tasks import Material, TaskFiles, Tests, read_material
from xling.finetune.trainer import baselines, in_turn, lanes, tune_point
from xling.model.device import local_device, precision, use_one_thread
from xling.pretrain.config import Run, read_run
from xling.pretrain.record import language_index, open_encoder


@record
class Job(TaskFiles):
    """One task of a plan."""

    settings: dict[str, Any]  # unchanged, because the result includes them
    config: str

    def __post_init__(self) -> None:
        refuse(f"settings.{problem}" for problem in find_problems(Settings, self.settings))
        best, points = self.read_settings.best, len(grid_points(self.read_settings))
        if self.task == "parsing" and self.read_settings.biaffine is None:
            refuse(["settings.biaffine: missing key, which parsing needs"])
        if best > points:
            refuse([f"settings.best: the score is the mean of {best} grid points, but there are {points}"])

    @cached_property
    def read_settings(self) -> Settings:
        """The parsed settings."""
        return read_settings(self.settings)


def read_plan(path: Path) -> dict[str, Job]:
    """Read and check a plan."""
    plan = read_record(dict[str, Job], read_json(path), path)
    if not plan:
        raise InputError(path, "no entry at all")
    return plan


def read_task(job: Job, described: Run, vocabulary: Vocabulary, seed: int, where: str) -> tuple[Material, Tests]:
    """Read the data of a job; error messages use `where` as the place at which its languages are named."""
    source, longest = described.selection_language, described.pretrain.length
    numbers = {code: language_index(described, code, where) for code in (source, *job.test)}
    return read_material(job, job.read_settings, dict.fromkeys(numbers, vocabulary), numbers, source, longest, seed)


def work_folder(args: argparse.Namespace, jobs: Mapping[str, Job], model: str, device: torch.device) -> Path:
    """Return the resume directory; its name has a hash of all that affects the results, so no other plan uses it."""
    files = [args.encoder / "run.json", *sorted(args.vocab.iterdir())]
    files += [path for job in jobs.values() for path in (job.train, job.dev, *job.test.values())]
    files += [] if args.untrained else [args.encoder / "model.safetensors"]
    decides = [(name, job.task, list(job.test), job.settings, job.config) for name, job in jobs.items()]
    known = [decides, args.seed, args.untrained, [sha256_of(path) for path in files], precision(device)]
    work: Path = args.work_root / f"{model}.{'+'.join(jobs)}-{hashed(known)}"
    return work


def log_scores(summary: Result) -> None:
    """Log the dev and test scores of every grid point of a task, and the score of each language."""
    log, task = log_to_stderr(__name__), summary["task"]
    for point in summary["points"]:
        tests = ", ".join(f"{code} {next(iter(found.values())):.2f}" for code, found in point["test"].items())
        log.info("%s point %d: dev %.2f, test %s", task, point["number"], point["dev_score"], tests)
    for code, found in summary["languages"].items():
        scores = found["score"], *found["interval"], found["baseline"]["score"]
        log.info("%s %s %s: %.2f [%.2f, %.2f], baseline %.2f", summary["model"], task, code, *scores)


def main() -> None:
    """Train at all grid points of a plan and write all results after the last point has finished."""
    args = parse_args()
    device = local_device(args.device)
    use_one_thread(device)
    jobs, described = read_plan(args.plan), read_run(args.encoder / "run.json")
    vocabulary = Vocabulary.load(args.vocab)
    work = work_folder(args, jobs, described.model, device)
    with Lock(work, args.wait_for_lock) as lock:
        encoder = open_encoder(args.encoder, described, vocabulary, args.seed if args.untrained else None).to(device)
        read = {
            name: read_task(job, described, vocabulary, args.seed, f"{args.plan} {name}.test")
            for name, job in jobs.items()
        }
        points = [(name, point) for name, job in jobs.items() for point in grid_points(job.read_settings)]
        works = [tune_point(encoder, *read[name], point, work / name) for name, point in points]
        found = in_turn(works, lanes(encoder, args.side_by_side))
        for name, job in jobs.items():
            material, tests = read[name]
            sizes = {code: len(examples) for code, (_, examples) in tests.items()}
            result = {
                "model": described.model, "source": described.selection_language, "task": job.task,
                "untrained": args.untrained, "settings": job.settings, "seed": args.seed, "config": job.config,
                "torch": torch.__version__, "baseline": baselines(material.task, material.train, tests),
                "sizes": {"train": len(material.train), "dev": len(material.dev), "test": sizes},
                "points": [one for (own, _), one in zip(points, found, strict=True) if own == name],
            }  # fmt: skip
            write_json(args.out_dir / "jobs" / f"{name}.json", result)
            write_json(args.out_dir / f"{name}.json", summary := summarise(result, job.read_settings.best))
            log_scores(summary)
        lock.remove_folder()


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of a pretrained model")
    parser.add_argument("--untrained", action="store_true", help="initialise the encoder from the seed instead")
    parser.add_argument("--vocab", type=Path, required=True, help="vocabulary directory")
    parser.add_argument("--plan", type=Path, required=True, help="JSON file: tasks, their data and settings")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--work-root", type=Path, required=True, help="folder in which the work folder is created")
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--side-by-side", type=int, metavar="N", help="grid points at once; otherwise as many as fit")
    parser.add_argument("--wait-for-lock", action="store_true", help="wait while another process runs this plan")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
