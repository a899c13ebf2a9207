"""Fine-tuning: one training against Hugging Face's BERT, and six grid points side by side, of NER and of inference.

python -m bench.finetune --out bench-finetune.json [--device cpu --shape tiny] [--parts peer ner xnli processes]
peer: the same bucketed batches for both sides in the same order from the same code; SDPA, bf16, dropout and Adam on
both. Tokens are those of the sentences, padding not counted. Times are the median of rounds, which alternate.
ner, xnli: an epoch of six grid points in one process, so many at once, with recorded steps, and with steps that are
compiled as well; and as it was before, one after the other with all rows of the token table in the optimiser, the top
layer computed at every position, and torch's attention.
processes: the same of NER in six processes, with and without NVIDIA's MPS. All graphs are recorded beforehand.
Parts that are not run keep what an earlier run wrote to --out; every part has its own date.
"""

import argparse
import copy
import gc
import multiprocessing
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import BrokenBarrierError
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor

from xling.core.errors import run
from xling.core.io import read_json, write_json
from xling.core.seeds import numpy_rng
from xling.finetune import tuner as tuner_module
from xling.finetune.data import Example, epoch_order, tensor, training_batches
from xling.finetune.settings import Grid, Point, Settings, grid_points
from xling.finetune.tasks import TAGS, Material, Ner, Task, Xnli
from xling.finetune.trainer import in_turn, lanes, train_epoch
from xling.finetune.tuner import Tuner
from xling.model import layers
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder
from xling.pretrain.record import utc

SHAPES = {
    "paper": (Shape(8, 768, 12, 3072, "gelu", 0.1, 0.1, "post", 1e-12, 256, True), 90_000),
    "tiny": (Shape(2, 32, 2, 64, "gelu", 0.1, 0.1, "post", 1e-12, 64, True), 500),
}
RATE = 3e-5
GRIDS: dict[str, tuple[Task, Settings]] = {  # six points of the paper's grids; that of inference has 18
    "ner": (Ner(), Settings(1, None, "linear", 0.1, Grid((16, 32), (2e-5, 3e-5, 5e-5), None), 2)),
    "xnli": (Xnli(), Settings(1, None, "fixed", 0.0, Grid((4, 8), (1.25e-6, 2.5e-6, 5e-6), (2.5e-5,)), 2)),
}
AT_ONCE = (1, 2, 3, 6, 12)
WAYS: dict[str, dict[str, Any]] = {
    "before": {"whole": True},
    "streams": {},
    "streams, compiled": {"compiled": True},
}
PARTS = ("processes", *GRIDS, "peer")  # processes first: this process holds no GPU memory yet
WAIT = 120.0  # seconds until processes that do not answer are given up
HF: Any = transformers  # typed in parts only
FUSED = layers.FUSED
Step = Callable[[Sequence[Example], int], None]


def made_up(count: int, size: int, longest: int) -> list[Example]:
    """Return sentences as long as those of WikiAnn and CoNLL, about 1.5 subwords a word."""
    rng = numpy_rng("bench", "finetune")
    lengths = np.clip(rng.lognormal(2.7, 0.7, count).round().astype(int), 3, longest - 2)
    return [_sentence(rng, int(length), size) for length in lengths]


def made_up_pairs(count: int, size: int, longest: int) -> list[Example]:
    """Return pairs of sentences as long as those of XNLI, 46 subwords on average."""
    rng = numpy_rng("bench", "finetune", "pairs")
    lengths = np.clip(rng.lognormal(3.7, 0.5, count).round().astype(int), 5, longest)
    pairs = [np.concatenate([[2], rng.integers(4, size, length - 1)]).astype(np.int32) for length in lengths]
    start = np.zeros(1, np.int32)
    return [Example((pair,), start, start, rng.integers(3, size=1)) for pair in pairs]


def _sentence(rng: np.random.Generator, length: int, size: int) -> Example:
    tokens = np.concatenate([[2], rng.integers(4, size, length), [2]]).astype(np.int32)
    places = 1 + np.flatnonzero(rng.random(length) < 0.67)
    places = places if len(places) else np.array([1])
    labels = rng.integers(len(TAGS), size=len(places))
    return Example((tokens,), np.zeros(len(places), np.int32), places.astype(np.int32), labels)


def our_step(shape: Shape, size: int, batch: int, device: torch.device) -> tuple[Step, Tuner]:
    """Return one step of this package's fine-tuning."""
    config = ModelConfig(("en", "fr"), (size, size), shape, Separate(False, 0), "shared")
    material = Material(*GRIDS["ner"], 0, shape.positions, [], [], 1)
    vars(material)["words"] = np.arange(size)  # every row of the token table is trained
    tuner = Tuner(Encoder(config, 1).to(device), material, Point(0, batch, RATE, RATE))
    return lambda examples, number: tuner.step(examples, 1.0, number), tuner


def their_step(shape: Shape, size: int, device: torch.device, tuner: Tuner) -> Step:
    """Return one step of the peer; the batch is laid out and sent by the same code."""
    config = HF.BertConfig(
        vocab_size=size, hidden_size=shape.width, num_hidden_layers=shape.layers, num_attention_heads=shape.heads,
        intermediate_size=shape.feedforward, hidden_act=shape.activation, hidden_dropout_prob=shape.dropout,
        attention_probs_dropout_prob=shape.attention_dropout, max_position_embeddings=shape.positions,
        type_vocab_size=2, num_labels=len(TAGS), attn_implementation="sdpa",
    )  # fmt: skip
    model = HF.BertForTokenClassification(config).to(device).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)

    def step(examples: Sequence[Example], number: int) -> None:
        torch.manual_seed(number)
        layout = tuner.layout(examples)
        arrays = (layout.tokens, *tuner.task.gold(layout))
        tokens, labels = (tensor(values, device) for values in arrays)
        with torch.autocast("cuda", torch.bfloat16, enabled=device.type == "cuda"):
            mask: Tensor = tokens != 0
            loss = model(input_ids=tokens, attention_mask=mask, labels=labels.view(tokens.shape)).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return step


def seconds(step: Step, batches: Sequence[Sequence[Example]], device: torch.device) -> float:
    """Return how long a pass over the batches takes, to the end of the last one on the device."""
    start = time.perf_counter()
    for number, examples in enumerate(batches):
        step(examples, number)
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def compare(shape_name: str, batch: int, steps: int, rounds: int, device: torch.device) -> dict[str, Any]:
    """Return tokens a second of both sides and their ratio."""
    shape, size = SHAPES[shape_name]
    examples = made_up(batch * steps, size, shape.positions)
    lengths = np.array([example.length for example in examples])
    order = epoch_order(len(examples), 0, 1, 0)
    batches = [[examples[i] for i in numbers] for numbers in training_batches(lengths, order, batch, 1, 0)]
    ours, tuner = our_step(shape, size, batch, device)
    theirs = their_step(shape, size, device, tuner)
    for step in (ours, theirs, ours, theirs):  # kernels chosen, graphs captured
        seconds(step, batches, device)
    timed = [(seconds(ours, batches, device), seconds(theirs, batches, device)) for _ in range(rounds)]
    mine, peer = (lengths.sum() / statistics.median(times) for times in zip(*timed, strict=True))
    layouts = [tuner.layout(some).tokens.size for some in batches]
    found = {"shape": shape_name, "batch": batch, "tokens": int(lengths.sum()), "padding": sum(layouts) / lengths.sum()}
    return {**found, "ours_tokens_s": float(mine), "peer_tokens_s": float(peer), "ratio": float(mine / peer)}


def make_tuners(
    grid: str,
    shape_name: str,
    points: Sequence[Point],
    examples: int,
    device: torch.device,
    compiled: bool = False,
    whole: bool = False,
) -> tuple[list[Tuner], Material]:
    """Return a tuner with weights of its own for each point, and the examples that all train on.

    With `whole` every row of the token table is trained, the top layer is computed everywhere, and torch attends.
    """
    shape, size = SHAPES[shape_name]
    encoder = Encoder(ModelConfig(("en", "fr"), (size, size), shape, Separate(False, 0), "shared"), 1).to(device)
    make = made_up_pairs if grid == "xnli" else made_up
    task, settings = GRIDS[grid]
    material = Material(copy.copy(task), settings, 0, shape.positions, make(examples, size, shape.positions), [], 1)
    layers.FUSED = () if whole else FUSED  # steps are recorded later, in the first epochs
    if whole:
        vars(material)["words"] = np.arange(size)
        material.task.pick = None
    tuner_module.STEPS_WORTH_COMPILING = 0 if compiled else 10**9
    made = [Tuner(copy.deepcopy(encoder), material, point) for point in points]
    return made, material


def epoch_seconds(tuners: Sequence[Tuner], streams: Sequence[Any]) -> float:
    """Return how long an epoch of all tuners takes, so many at once as there are streams."""
    start = time.perf_counter()
    in_turn([train_epoch(tuner, 0) for tuner in tuners], streams)
    if tuners[0].device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def by_streams(
    grid: str, how: str, shape_name: str, examples: int, rounds: int, device: torch.device, **options: Any
) -> list[dict[str, Any]]:
    """Return the seconds of an epoch of the six points, so many at once; for twelve, half of the time of twelve."""
    six = grid_points(GRIDS[grid][1])
    counts = (1,) if options.get("whole") else AT_ONCE
    points = six * max(1, max(counts) // len(six))
    tuners, material = make_tuners(grid, shape_name, points, examples, device, **options)
    streams = lanes(tuners[0].encoder, len(points))
    for _ in range(2):  # eager, recorded
        print(f"  {grid}, {how}, warm-up {epoch_seconds(tuners, streams):.1f} s", flush=True)
    rows = []
    for count in counts:
        copies = max(1, count // len(six))
        chosen = len(six) * copies
        times = [epoch_seconds(tuners[:chosen], streams[:count]) / copies for _ in range(rounds)]
        steps = sum(material.steps(point.batch) for point in six)
        rows.append({"how": how, "at_once": count, "steps": steps, "seconds": statistics.median(times)})
        print(f"  {count} at once: {rows[-1]['seconds']:.3f} s", flush=True)
    if device.type == "cuda":
        used = torch.cuda.max_memory_reserved() / len(points)
        print(f"  {used / 1e9:.2f} GB of the GPU for each training", flush=True)
        rows[-1]["reserved_gb"] = used / 1e9
    return rows


def one_process(shape_name: str, point: Point, examples: int, rounds: int, device: torch.device, barrier: Any) -> None:
    """Train at one point whenever all processes are ready."""
    if device.type == "cpu":
        torch.set_num_threads(1)
    try:
        tuners, _ = make_tuners("ner", shape_name, [point], examples, device)
        for _ in range(2):  # eager, recorded
            epoch_seconds(tuners, [None])
        for _ in range(rounds):
            barrier.wait(WAIT)
            epoch_seconds(tuners, [None])
            barrier.wait(WAIT)
    except BaseException:
        barrier.abort()
        raise


def by_processes(how: str, shape_name: str, examples: int, rounds: int, device: torch.device) -> dict[str, Any]:
    """Return the seconds of an epoch of the six points in a process each, or None where they do not work."""
    context, points = multiprocessing.get_context("spawn"), grid_points(GRIDS["ner"][1])
    barrier = context.Barrier(1 + len(points))
    known = examples, rounds, device, barrier
    children = [context.Process(target=one_process, args=(shape_name, point, *known)) for point in points]
    for child in children:
        child.start()
    times: list[float] = []
    try:
        for _ in range(rounds):
            barrier.wait(WAIT)
            start = time.perf_counter()
            barrier.wait(WAIT)
            times.append(time.perf_counter() - start)
    except BrokenBarrierError:
        print(f"  {how}: the processes do not work", flush=True)
    for child in children:
        child.join(WAIT if times else 1.0)
        child.kill()
    seconds = statistics.median(times) if len(times) == rounds else None
    print(f"  {how}: {seconds} s", flush=True)
    return {"how": how, "at_once": len(points), "seconds": seconds}


@contextmanager
def mps() -> Iterator[None]:
    """Let processes of this block share the GPU through a daemon of NVIDIA's MPS."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        subprocess.run(["nvidia-cuda-mps-control", "-d"], check=True, timeout=20)
        try:
            yield
        finally:
            subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, check=False, timeout=60)
            del os.environ["CUDA_MPS_PIPE_DIRECTORY"], os.environ["CUDA_MPS_LOG_DIRECTORY"]


def measure(part: str, args: argparse.Namespace, device: torch.device) -> dict[str, Any]:
    """Return what a part of the comparison found, under the keys of the result."""
    print(f"{part}:", flush=True)
    if part == "peer":
        rows = [compare(args.shape, batch, args.examples // batch, args.rounds, device) for batch in (16, 32)]
        print(f"{'batch':>5} {'padding':>8} {'ours tok/s':>12} {'peer tok/s':>12} {'ratio':>6}")
        for row in rows:
            speeds = f"{row['ours_tokens_s']:12.0f} {row['peer_tokens_s']:12.0f} {row['ratio']:6.2f}"
            print(f"{row['batch']:5} {row['padding']:8.3f} {speeds}", flush=True)
        return {"peer": rows, "transformers": transformers.__version__}
    if part in GRIDS:
        known, made = (args.shape, args.examples, args.rounds, device), []
        for how, options in WAYS.items():
            made += by_streams(part, how, *known, **options)
            gc.collect()  # the tuners hold each other, and the GPU's memory
        return {part: [row | {"faster": made[0]["seconds"] / row["seconds"]} for row in made]}
    ways: dict[str, Any] = {"processes": nullcontext()}
    if device.type == "cuda" and shutil.which("nvidia-cuda-mps-control"):
        ways["processes with MPS"] = mps()
    found = []
    for how, way in ways.items():
        try:
            with way:
                found.append(by_processes(how, args.shape, args.examples, args.rounds, device))
        except (OSError, subprocess.SubprocessError) as error:  # not every container may start a daemon of MPS
            print(f"  {how}: {error}", flush=True)
    return {"processes": found}


def main() -> None:
    """Measure the parts one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="paper")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--examples", type=int, default=1600, help="sentences of an epoch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", nargs="+", choices=PARTS)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if args.device == "cpu":
        torch.set_num_threads(1)
    device = torch.device(args.device, 0) if args.device == "cuda" else torch.device("cpu")
    found = read_json(args.out) if args.out.is_file() else {}
    for part in args.parts or PARTS:
        found |= measure(part, args, device) | {f"{part}_date": utc()}
        name = torch.cuda.get_device_name(0) if args.device == "cuda" else "cpu"
        write_json(args.out, found | {"device": name, "torch": torch.__version__})


if __name__ == "__main__":
    run(main)
