"""The rates of this machine for `make plan`, in about a minute: python -m bench.calibrate --out results/rates.yaml

Times our training step at two shapes and one fine-tuning step, on the GPU where there is one. `make plan` reads
results/rates.yaml by itself; `make plan RATES=FILE` reads another.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import torch
import yaml

from bench import finetune, pretrain
from xling.core.errors import run
from xling.core.io import write_text
from xling.core.provenance import installed
from xling.model.device import local_device
from xling.pretrain.record import PACKAGES, device_name, useful_operations, utc

# Width, heads, vocabulary, stream length, streams, norm: for a CPU shapes that it trains in reasonable time.
CPU_SIZES = {"embedded": (32, 2, 900, 64, 4, "pre"), "medium": (128, 2, 4000, 64, 32, "pre")}
SHAPES = {"cuda": ("small", "paper"), "cpu": ("embedded", "medium")}
TUNING = {"cuda": ("paper", 8), "cpu": ("tiny", 32)}  # shape and batch of a fine-tuning step
TUNING_STEPS = 100


def fit(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Return (step, operations_per_second) through two measured points of (operations, seconds) a micro-batch.

    A device that is faster on more work than on less, within noise, has no step of its own.
    """
    (few, short), (many, long) = sorted([one, other])
    per_operation = max(long - short, 1e-12) / (many - few)
    step = max(0.0, short - few * per_operation)
    return step, (many / long if step == 0.0 else 1 / per_operation)


def training_point(size: str, device: torch.device, data: Path, seconds: float) -> tuple[float, float]:
    """Return the useful operations and the seconds of a micro-batch."""
    described = pretrain.make_run(size, (False, 0))
    config = pretrain.make_trainer(described, device, data).engine.encoder.config
    pretrain.free()
    tokens = described.pretrain.micro_batch_tokens
    per_token = useful_operations(config, described.pretrain.length, described.pretrain.mask_rate)
    speed = pretrain.our_rate(described, device, data, seconds)
    pretrain.free()
    return per_token * tokens, tokens / speed


def tuning_seconds(device: torch.device) -> float:
    """Return the seconds of a fine-tuning step."""
    name, batch = TUNING[device.type]
    shape, words = finetune.SHAPES[name]
    examples = finetune.made_up(batch * TUNING_STEPS, words, shape.positions)
    batches = [examples[i : i + batch] for i in range(0, len(examples), batch)]
    step, _ = finetune.our_step(shape, words, batch, device)
    finetune.seconds(step, batches, device)
    return finetune.seconds(step, batches, device) / len(batches)


def measure(device: torch.device, seconds: float) -> dict[str, Any]:
    """Return the rates of a device, as workflow_scripts/plan/rates.yaml has them."""
    pretrain.SIZES.update(CPU_SIZES)
    with tempfile.TemporaryDirectory() as data:
        points = [training_point(size, device, Path(data), seconds) for size in SHAPES[device.type]]
    step, speed = fit(points[0], points[1])
    tuning = tuning_seconds(device)
    name, source = device_name(device), f"measured {utc()}, torch {installed(PACKAGES)['torch']}"
    rates = {"step": step, "operations_per_second": speed, "tuning_step": tuning}
    units = {"step": "s a micro-batch", "operations_per_second": "useful operations/s", "tuning_step": "s a step"}
    entries = {key: {"value": value, "unit": units[key], "source": source} for key, value in rates.items()}
    return {"name": name, "gpu": device.type == "cuda", **entries}


def main() -> None:
    """Measure this machine and write its rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--seconds", type=float, default=6.0, help="of each measurement, compilation aside")
    parser.add_argument("--out", type=Path, default=Path("results/rates.yaml"))
    args = parser.parse_args()
    device = local_device(args.device)
    if device.type == "cpu":
        torch.set_num_threads(1)
    rates = measure(device, args.seconds)
    with write_text(args.out) as handle:
        handle.write(yaml.safe_dump(rates, sort_keys=False))
    for key in ("step", "operations_per_second", "tuning_step"):
        print(f"{key:>22} {rates[key]['value']:12.4g} {rates[key]['unit']}")


if __name__ == "__main__":
    run(main)
