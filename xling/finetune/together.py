"""Fine-tune one encoder on several tasks in one process: starting it costs as much as a small task takes.

python -m xling.finetune.together --encoder model/ --vocab vocab/ --seed 1 \
    --jobs '{"task": "ner", "train": "en.jsonl", "dev": "en.dev.jsonl", "test": {"fr": "fr.test.jsonl"},
            "settings": {…}, "config": "H"}' … --work-below resume/ --out-dir scores/

Every point of each task's grid is run, as by xling.finetune.run, and collected, as by xling.finetune.collect: the
folder gets jobs/TASK.json, all that was measured, and TASK.json, the score. A killed process goes on where it was.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xling.core.errors import XlingError, run
from xling.core.io import write_json
from xling.core.lock import Lock
from xling.finetune import run as single
from xling.finetune.collect import summarise, tell
from xling.model.device import local_device, use_one_thread

KEYS = {"task", "train", "dev", "test", "settings", "config"}


def read_jobs(texts: list[str]) -> dict[str, dict[str, Any]]:
    """Return the jobs by task; each task once."""
    jobs: dict[str, dict[str, Any]] = {}
    for text in texts:
        try:
            job = json.loads(text)
        except json.JSONDecodeError as error:
            raise XlingError(f"--jobs: not JSON: {error.msg} at character {error.pos + 1}") from None
        if not isinstance(job, dict) or set(job) != KEYS or not isinstance(job["test"], dict):
            raise XlingError(f"--jobs {text[:60]}…: expected an object with {', '.join(sorted(KEYS))}")
        if job["task"] in jobs:
            raise XlingError(f"--jobs: the task {job['task']} is given twice")
        jobs[job["task"]] = job
    return jobs


def single_arguments(job: Mapping[str, Any], common: argparse.Namespace) -> argparse.Namespace:
    """Return what xling.finetune.run would be given for one of the tasks."""
    flags = {
        "--task": job["task"], "--encoder": common.encoder, "--vocab": common.vocab, "--train": job["train"],
        "--dev": job["dev"], "--settings": json.dumps(job["settings"]), "--points": "all", "--seed": common.seed,
        "--work-below": common.work_below, "--config-hash": job["config"], "--device": common.device,
        "--out": common.out_dir / "jobs" / f"{job['task']}.json",
    }  # fmt: skip
    words = [word for flag, value in flags.items() for word in (flag, str(value))]
    words += [word for code, path in job["test"].items() for word in ("--test", f"{code}={path}")]
    return single.parse_args([*words, "--untrained"] if common.untrained else words)


def fine_tune_all(jobs: Mapping[str, argparse.Namespace], args: argparse.Namespace) -> None:
    """Run all jobs below one resume directory, which goes when the last one's result is written."""
    name = single.work_name(args.encoder, "together", [single.identity(job) for job in jobs.values()])
    work = args.work_below / name
    with Lock(work, args.wait_for_lock) as lock:
        results = {}
        for task, job in jobs.items():
            job.work = work / task
            results[task] = single.fine_tune(job)
            single.tell(results[task])
        for task, result in results.items():
            write_json(jobs[task].out, result)
            summary = summarise(result)
            write_json(args.out_dir / f"{task}.json", summary)
            tell(summary)
        lock.remove_folder()


def main() -> None:
    """Fine-tune on all tasks and write what each gave."""
    args = parse_args()
    use_one_thread(local_device(args.device))
    jobs = {task: single_arguments(job, args) for task, job in read_jobs(args.jobs).items()}
    fine_tune_all(jobs, args)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of a pretrained model")
    parser.add_argument("--untrained", action="store_true", help="draw the encoder's weights from the seed instead")
    parser.add_argument("--vocab", type=Path, required=True, help="vocabulary directory")
    parser.add_argument("--jobs", nargs="+", required=True, metavar="JSON", help="tasks, their data and settings")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--work-below", type=Path, required=True, help="where the directory to resume from is made")
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--wait-for-lock", action="store_true", help="wait while another process runs these jobs")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
