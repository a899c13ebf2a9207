"""Train one model: python -m xling.pretrain.run --run run.json --streams en=DIR --vocab DIR --work-root DIR --out DIR

The work folder is MODEL-HASH in --work-root; the hash covers everything that determines the weights, so a different run
cannot resume from it. The same command resumes from the last checkpoint there. Exit code 75 means that the run saved
its state and stopped early, at its deadline, on SIGTERM or on Ctrl-C: run it again. For several processes use torchrun
--nproc-per-node N -m xling.pretrain.run --run-json run.json … (torchrun takes `--run` for one of its own flags).
torchrun exits with 1 after any failure; provenance.json records how the attempt ended.
"""

import argparse
import math
import os
import shutil
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import torch

from xling.bpe.vocabulary import read_parts
from xling.core.cli import named_paths, positive
from xling.core.errors import InputError, run
from xling.core.io import atomic_path, read_json, write_json, write_text
from xling.core.lock import Lock
from xling.core.log import log_to_file, log_to_stderr
from xling.core.results import hashed
from xling.model import checkpoint
from xling.model.device import local_device, use_one_thread
from xling.model.encoder import Encoder
from xling.model.files import put_weights, save_encoder
from xling.pretrain.batches import Batches
from xling.pretrain.config import Run, read_run
from xling.pretrain.engine import DTYPES, Engine, working_dtype
from xling.pretrain.loop import DivergedError, NotFinishedError, Trainer, Workers
from xling.pretrain.record import DIVERGED, begin_attempt, device_name, end_attempt, times_diverged
from xling.pretrain.validate import Validation, read_parallel

MAX_DIVERGENCES = 2
PRECISION = "precision.txt"  # in the work folder
LOGS = ("train.log", "metrics.jsonl")


def read_named(given: list[str], run: Run, flag: str) -> dict[str, Path]:
    """Parse the LANGUAGE=PATH values of a flag and return the path of each language of the run."""
    found = named_paths(given, flag)
    missing = [code for code in run.languages if code not in found]
    if missing:
        raise InputError(flag, f"nothing for {missing[0]}", fix=f"add {flag} {missing[0]}=PATH")
    return {code: found[code] for code in run.languages}


def vocabulary_sizes(vocab: Path, run: Run) -> dict[str, int]:
    """Return the number of ids in the embedding table of each language."""
    (about, _, ids), path = read_parts(vocab), vocab / "vocab.json"
    separate = about["kind"] == "separate"
    if separate and not run.separate.embeddings:
        raise InputError(path, "each language has its own subword ids, so run.json must set separate.embeddings")
    if missing := [code for code in run.languages if code not in ids]:
        raise InputError(path, f"no language {missing[0]!r} (it has {', '.join(ids)})")
    return {code: len(ids[code]) if separate else about["size"] for code in run.languages}


def choose_work(args: argparse.Namespace) -> Path:
    """Return the work folder of this run, MODEL-HASH; the hash covers everything that determines the weights."""
    run = read_run(args.run)
    folders, sizes = read_named(args.streams, run, "--streams"), vocabulary_sizes(args.vocab, run)
    meta = {code: read_json(folder / "meta.json") for code, folder in sorted(folders.items())}
    inputs = {"sizes": sizes, "splits": {code: about.get("splits") for code, about in meta.items()}}
    identity = {"run": read_json(args.run), "inputs": inputs, "revision": args.revision}
    root: Path = args.work_root
    return root / f"{run.model}-{hashed(identity)}"


def publish(args: argparse.Namespace, work: Path, encoder: Encoder, update: int) -> None:
    """Write the logs of the run and the model of the best update to the output folder, the weights last."""
    out, best = args.out, work / "checkpoints" / f"step-{update:07d}"
    problem = checkpoint.damage(best)
    if problem:
        raise InputError(best, f"the best checkpoint is damaged: {problem}", fix="delete it and run again")
    out.mkdir(parents=True, exist_ok=True)
    if not (out / "run.json").is_file():  # in the workflow it is the input of this job
        write_json(out / "run.json", read_json(args.run))
    for name in LOGS:
        with atomic_path(out / name, sealed=True) as temporary:
            shutil.copyfile(work / name, temporary)
    put_weights(encoder, checkpoint.Checkpoint(best, {}).tensors("weights"), best)
    save_encoder(encoder, out, read_json(work / "provenance.json"))


def choose_precision(asked: str, device: torch.device, work: Path) -> str:
    """Return the name of the activation type; a resumed run keeps its type, even if the device would use another."""
    dtype, note = working_dtype(asked, device), work / PRECISION
    preferred = next(name for name, known in DTYPES.items() if known == dtype)
    if not note.is_file() or not any(work.glob("checkpoints/step-*")):
        return preferred
    started = note.read_text(encoding="utf-8", errors="replace").strip()
    if started not in DTYPES:
        problem = f"expected one of {', '.join(DTYPES)}, found {started!r}"
        raise InputError(note, problem, fix="delete the work folder to start again")
    if started != preferred:
        told = "continuing in %s, the precision the run started with; by default this device would use %s"
        log_to_stderr(__name__).warning(told, started, preferred)
    return started


def build(args: argparse.Namespace, work: Path, workers: Workers, lock: Lock | None) -> Trainer:
    """Read and check all inputs of a run, then record the start of an attempt and return the trainer."""
    run, record = read_run(args.run), work / "provenance.json"
    given = {key: getattr(args, key) for key in ("save_every", "keep_checkpoints") if getattr(args, key)}
    run = replace(run, pretrain=replace(run.pretrain, **given))  # these do not affect the weights
    folders, sizes = read_named(args.streams, run, "--streams"), vocabulary_sizes(args.vocab, run)
    times = times_diverged(record) if workers.first else 0
    if times >= MAX_DIVERGENCES:  # otherwise a script might resubmit it for ever
        problem = f"training diverged {times} times after its last checkpoint"
        fix = "lower pretrain.lr or lengthen pretrain.warmup; to try that checkpoint again, delete this file"
        raise InputError(record, problem, fix=fix)
    encoder = Encoder(run.model_config(sizes, args.run), run.seed).to(workers.device)
    precision = choose_precision(run.pretrain.precision, workers.device, work)
    engine = Engine(encoder, run.pretrain, workers.device, DTYPES[precision])
    tables = read_parts(args.vocab)[2]
    batches, validation = Batches(run, folders, sizes, tables), Validation(run, folders, tables)
    trainer = Trainer(run, engine, batches, validation, workers, work, lock)
    trainer.deadline = args.deadline
    if args.parallel and len(run.languages) > 1 and workers.first:
        files = read_named(args.parallel, run, "--parallel")
        trainer.parallel = read_parallel(files, args.vocab, run.pretrain.length)
    if workers.first:
        log_to_file(work / "train.log")
        begin_attempt(record, workers.device, workers.world)
        with write_text(work / PRECISION) as handle:
            handle.write(f"{precision}\n")
    return trainer


def train(args: argparse.Namespace, work: Path, workers: Workers, lock: Lock | None) -> None:
    """Train, record how the attempt ended and, if it finished, write the model to the output folder."""
    log = log_to_stderr(__name__)
    trainer = build(args, work, workers, lock)
    log.info("%s on %s, %d process(es)", trainer.run.model, device_name(workers.device), workers.world)
    began, outcome = time.monotonic(), "failed"
    try:
        trainer.train()
        outcome = "finished"
    except (NotFinishedError, DivergedError) as error:
        outcome = "stopped" if isinstance(error, NotFinishedError) else DIVERGED
        raise
    finally:
        if workers.first:
            updates = trainer.began_at, trainer.state.update
            end_attempt(work / "provenance.json", outcome, updates, time.monotonic() - began)
        if outcome == "stopped":  # torchrun stops all processes once one has exited
            workers.wait()
    if workers.first:
        publish(args, work, trainer.engine.encoder, trainer.state.best_update or 0)
    workers.wait()


def main() -> None:
    """Read the command line, lock the work folder and train."""
    args = parse_args()
    log_to_stderr(__name__)
    if args.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    device = local_device(args.device)
    use_one_thread(device)
    work, workers = choose_work(args), Workers(device)
    try:
        with Lock(work, args.wait_for_lock) if workers.first else nullcontext() as lock:
            # While this process waited, the holder of the lock may have finished the model and removed the folder.
            begun, made = any(work.glob("checkpoints/step-*")), (args.out / "model.safetensors").is_file()
            already_done = workers.broadcast(lock is not None and lock.waited and made and not begun)
            if not already_done:
                train(args, work, workers, lock)
            if lock is not None:
                lock.remove_folder()  # all results are in the output; a forced rerun starts anew
    finally:
        workers.leave()


def parse_args() -> argparse.Namespace:
    """Return the command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", "--run-json", dest="run", type=Path, required=True, help="the resolved run.json")
    parser.add_argument("--streams", action="append", required=True, metavar="LANGUAGE=DIR", help="token streams")
    parser.add_argument("--vocab", type=Path, required=True, help="vocabulary directory")
    parser.add_argument("--work-root", type=Path, required=True, help="folder in which the work folder is created")
    parser.add_argument("--revision", type=int, default=0, help="revision of the training code; part of the hash")
    parser.add_argument("--out", type=Path, required=True, help="where the finished model goes")
    parser.add_argument("--deadline", type=float, default=math.inf, help="save and stop by then (seconds since 1970)")
    parser.add_argument("--parallel", action="append", metavar="LANGUAGE=FILE", help="sentences for retrieval and CKA")
    parser.add_argument("--save-every", type=positive, help="updates between checkpoints (overrides run.json)")
    parser.add_argument("--keep-checkpoints", type=positive, help="newest checkpoints to keep, besides the best")
    parser.add_argument("--wait-for-lock", action="store_true", help="wait while another process trains this model")
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--deterministic", action="store_true", help="bit-for-bit reproducible on a GPU, but slower")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
