"""Fine-tune an encoder on a task at some points of its grid, and evaluate it on other languages.

python -m xling.finetune.run --task ner --encoder model/ --vocab vocab/ --train en.jsonl --dev en.dev.jsonl \
    --test fr=fr.test.jsonl --settings '{…}' --points 0,1 --seed 1 --work resume/ --config-hash H --out result.json

--encoder holds run.json, model.json and model.safetensors; with --untrained, run.json alone: its floor.
A killed job goes on from its last finished epoch when it is started again with the same --work, or --work-below.
"""

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from xling.bpe.vocabulary import Vocabulary
from xling.core.cli import named_paths
from xling.core.errors import run
from xling.core.io import sha256_of, write_json
from xling.core.lock import Lock
from xling.core.log import log_to_stderr
from xling.finetune.data import Example, read_examples
from xling.finetune.job import Target, baselines, choose_points, claim, run_points
from xling.finetune.settings import parse_settings
from xling.finetune.task import Task
from xling.finetune.tasks import NAMES, make_task
from xling.finetune.trainer import Material
from xling.finetune.windows import Speller
from xling.model.device import local_device, use_one_thread
from xling.pretrain.config import Run, read_run
from xling.pretrain.trained import language_index, open_encoder


def read_set(path: Path, task: Task, vocabulary: Vocabulary, language: str, longest: int) -> list[Example]:
    """Read a task's file in one language."""
    return read_examples(path, partial(task.encode, speller=Speller(vocabulary, language, longest)))


def identity(args: argparse.Namespace) -> dict[str, Any]:
    """Return what makes a job this job: its settings and the hashes of everything it reads."""
    files = [args.train, args.dev, *args.tests.values(), args.encoder / "run.json", *sorted(args.vocab.iterdir())]
    files += [] if args.untrained else [args.encoder / "model.safetensors"]
    given = {key: getattr(args, key) for key in ("task", "settings", "seed", "untrained", "source", "config_hash")}
    return {**given, "tests": list(args.tests), "inputs": [sha256_of(path) for path in files]}


def read_targets(args: argparse.Namespace, described: Run, task: Task, vocabulary: Vocabulary) -> list[Target]:
    """Read the test sets; what is in them reaches nothing but the final evaluation."""
    indexes, longest = [language_index(described, code, "--test") for code in args.tests], described.pretrain.length
    sets = [read_set(path, task, vocabulary, code, longest) for code, path in args.tests.items()]
    return [Target(*parts) for parts in zip(args.tests, indexes, sets, strict=True)]


def fine_tune(args: argparse.Namespace) -> dict[str, Any]:
    """Return the result of a job."""
    settings, biaffine = parse_settings(args.settings)
    points, task = choose_points(args.points, settings), make_task(args.task, biaffine)
    described, vocabulary = read_run(args.encoder / "run.json"), Vocabulary.load(args.vocab)
    encoder = open_encoder(args.encoder, described, vocabulary, args.seed if args.untrained else None)
    source, longest = args.source or described.selection_language, described.pretrain.length
    language = language_index(described, source, "--source")
    train, dev = (read_set(path, task, vocabulary, source, longest) for path in (args.train, args.dev))
    targets = read_targets(args, described, task, vocabulary)
    claim(args.work, identity(args))
    material = Material(task, settings, language, longest, train, dev, args.seed)
    results = run_points(encoder.to(local_device(args.device)), material, targets, points, args.work)
    sizes = {"train": len(train), "dev": len(dev), "test": {one.language: len(one.examples) for one in targets}}
    measured = {"sizes": sizes, "baseline": baselines(task, train, targets), "points": results}
    return {"model": described.model, "source": source, **about(args), **measured}


def about(args: argparse.Namespace) -> dict[str, Any]:
    """Return what a result says of its making."""
    made = {"settings": json.loads(args.settings), "seed": args.seed, "config": args.config_hash}
    return {"task": args.task, "untrained": args.untrained, **made, "torch": torch.__version__}


def work_name(encoder: Path, what: str, known: object) -> str:
    """Return the name of a resume directory: of what decides the result, so that no other job goes on from it."""
    digest = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()
    return f"{read_run(encoder / 'run.json').model}.{what}-{digest[:16]}"


def tell(result: Mapping[str, Any]) -> None:
    """Log the scores of every point."""
    for point in result["points"]:
        scores = {code: next(iter(found["measures"].values())) for code, found in point["test"].items()}
        told = ", ".join(f"{code} {value:.2f}" for code, value in scores.items())
        log_to_stderr(__name__).info(
            "%s point %d: dev %.2f, test %s", result["task"], point["number"], point["dev_score"], told
        )


def main() -> None:
    """Run a job and write its result."""
    args = parse_args()
    use_one_thread(local_device(args.device))
    args.work = args.work or args.work_below / work_name(args.encoder, args.task, [identity(args), args.points])
    with Lock(args.work, args.wait_for_lock) as lock:
        result = fine_tune(args)
        write_json(args.out, result)
        if args.work_below:
            lock.remove_folder()
    tell(result)


def parse_args(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=NAMES, required=True)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of a pretrained model")
    parser.add_argument("--untrained", action="store_true", help="draw the encoder's weights from the seed instead")
    parser.add_argument("--vocab", type=Path, required=True, help="vocabulary directory")
    parser.add_argument("--source", help="language of --train and --dev; by default the model's selection language")
    parser.add_argument("--train", type=Path, required=True, help="JSON lines")
    parser.add_argument("--dev", type=Path, required=True, help="JSON lines of the same language")
    parser.add_argument("--test", action="append", required=True, metavar="LANGUAGE=FILE", help="JSON lines")
    parser.add_argument("--settings", required=True, metavar="JSON", help="the task's section of the configuration")
    parser.add_argument("--points", required=True, help="numbers of the grid points to run, as 0,1, or all")
    parser.add_argument("--seed", type=int, required=True)
    work = parser.add_mutually_exclusive_group(required=True)
    work.add_argument("--work", type=Path, help="directory to resume from; survives between attempts")
    work.add_argument("--work-below", type=Path, help="choose it below this one, and take it away at the end")
    parser.add_argument("--config-hash", default="", help="what the result belongs to")
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--wait-for-lock", action="store_true", help="wait while another process runs this job")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(given)
    args.tests = named_paths(args.test, "--test", "LANGUAGE=FILE")
    return args


if __name__ == "__main__":
    run(main)
