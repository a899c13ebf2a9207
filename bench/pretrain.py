"""Training speed: python bench/pretrain.py --out bench/results/pretrain.json

Measures in one run: the matrix product ceiling, Hugging Face's compiled BERT, our engine at the paper's shape with
every sharing setting, and a small model that is bound by kernel launches. `--shape tiny --device cpu` tries the same
code anywhere. `--explore` compares variants of the engine at the paper's shape and shows where its time goes.
"""

import argparse
import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from xling.bpe.streams import TokenStreamWriter
from xling.core.provenance import installed
from xling.model import layers
from xling.model.config import Separate, Shape
from xling.model.device import local_device
from xling.model.encoder import Encoder
from xling.pretrain.batches import Batches
from xling.pretrain.config import Pretrain, Run
from xling.pretrain.engine import Engine, compiled_losses, working_dtype
from xling.pretrain.loop import Trainer, Workers
from xling.pretrain.record import PACKAGES, device_name, measured_peak, useful_operations, utc
from xling.pretrain.validate import Validation

SETTINGS = {
    "Default": (False, 0),
    "Sep L1-3": (False, 3),
    "Sep L1-6": (False, 6),
    "Sep Emb": (True, 0),
    "Sep Emb + L1-3": (True, 3),
    "Sep Emb + L1-6": (True, 6),
}
SIZES = {  # width, heads, vocabulary, stream length, streams, norm
    "paper": (768, 12, 80000, 256, 96, "post"),
    "small": (256, 4, 16000, 128, 64, "pre"),
    "narrow": (128, 4, 16000, 128, 64, "pre"),
    "tiny": (32, 2, 400, 32, 16, "post"),
}
MICRO_BATCHES = (4, 2, 1)  # that an update of the narrow model is cut into


def make_run(size: str, separate: tuple[bool, int], micro_batches: int = 1) -> Run:
    """Return a run of one of the sizes with the paper's training settings."""
    width, heads, _, length, streams, norm = SIZES[size]
    shape = Shape(8, width, heads, 4 * width, "gelu", 0.1, 0.1, norm, 1e-12, 512, True)  # type: ignore[arg-type]
    settings = Pretrain(
        "streams", length, length * streams, micro_batches, 10**6, 0.7, 0.15, 0.8, 0.1, "any", 1e-4, 30000, 1e-7,
        "inverse-sqrt", 0.0, (0.9, 0.999), 1e-6, 0.01, 5.0, "auto", 10**6, 1000, 10**6, 1,
    )  # fmt: skip
    softmax = "per-language" if separate[0] else "shared"
    return Run(size, ("en", "fr"), "en", 1, shape, Separate(*separate), softmax, settings)  # type: ignore[arg-type]


def divided(size: str, micro_batches: int) -> Run:
    """Return a run without dropout whose update is one batch of this size, cut into so many micro-batches."""
    run = make_run(size, (False, 0), micro_batches)
    shape = replace(run.shape, dropout=0.0, attention_dropout=0.0)
    tokens = run.pretrain.micro_batch_tokens // micro_batches
    return replace(run, shape=shape, pretrain=replace(run.pretrain, micro_batch_tokens=tokens, mask_rate=0.3))


def make_trainer(run: Run, device: torch.device, data: Path) -> Trainer:
    """Return the real trainer on random text, without validation and checkpoints."""
    size = SIZES[run.model][2] // (2 if run.separate.embeddings else 1)
    folders = {code: data / f"{code}-{size}" for code in run.languages}
    for code, folder in folders.items():
        write_random(folder, code, size)
    sizes = dict.fromkeys(run.languages, size)
    encoder = Encoder(run.model_config(sizes, data), 1).to(device)
    engine = Engine(encoder, run.pretrain, device, working_dtype("auto", device))
    validation = Validation(run, folders, {})
    return Trainer(run, engine, Batches(run, folders, sizes, {}), validation, Workers(device), data, None)


def write_random(folder: Path, code: str, size: int) -> None:
    """Write streams of random words, 2M tokens."""
    if (folder / "meta.json").is_file():
        return
    ids = np.random.default_rng(0).integers(4, size, 2_000_000)
    ids[19::20] = 2
    with TokenStreamWriter(folder, size, code) as writer:
        for split, share in (("train", ids), ("valid", ids[:2000])):
            writer.add(split, share, np.full(len(share) // 20, 20))


def rate(step: Callable[[], None], tokens: int, device: torch.device, seconds: float, warm_up: int) -> float:
    """Return tokens a second: the median over chunks of about a tenth of the time."""
    for _ in range(warm_up):
        step()
    wait(device)
    began = time.perf_counter()
    step()
    wait(device)
    chunk = max(1, round(seconds / 10 / (time.perf_counter() - began)))
    speeds = []
    for _ in range(10):
        began = time.perf_counter()
        for _ in range(chunk):
            step()
        wait(device)
        speeds.append(chunk * tokens / (time.perf_counter() - began))
    return statistics.median(speeds)


def wait(device: torch.device) -> None:
    """Wait for the device."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def free() -> None:
    """Give memory back between measurements."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def our_rate(run: Run, device: torch.device, data: Path, seconds: float) -> float:
    """Return our tokens a second, batches and their masking included."""
    trainer = make_trainer(run, device, data)
    updates = trainer.batches_to_do()

    def step() -> None:
        trainer.update(*next(updates))
        trainer.state.update += 1

    tokens = run.pretrain.micro_batches * run.pretrain.micro_batch_tokens
    found = rate(step, tokens, device, seconds, 24 if device.type == "cuda" else 2)
    updates.close()  # type: ignore[attr-defined]
    return found


def bert_rate(run: Run, device: torch.device, seconds: float) -> float:
    """Return the tokens a second of Hugging Face's BERT at the same shape: SDPA, bf16, compiled, logits everywhere."""
    from transformers import BertConfig, BertForMaskedLM

    shape, words, rows = run.shape, SIZES[run.model][2], SIZES[run.model][4]
    config = BertConfig(
        vocab_size=words, hidden_size=shape.width, num_hidden_layers=shape.layers, num_attention_heads=shape.heads,
        intermediate_size=shape.feedforward, max_position_embeddings=shape.positions,
    )  # fmt: skip
    config._attn_implementation = "sdpa"
    model: Any = BertForMaskedLM(config)
    model.to(device).train()
    on_gpu = device.type == "cuda"
    called: Callable[..., Any] = torch.compile(model, dynamic=False) if on_gpu else model
    adam = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    tokens = torch.randint(4, words, (rows, run.pretrain.length), device=device)
    labels = torch.where(torch.rand(tokens.shape, device=device) < run.pretrain.mask_rate, tokens, -100)

    def step() -> None:
        with torch.autocast(device.type, torch.bfloat16, enabled=on_gpu):
            loss = called(input_ids=tokens, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        adam.step()
        adam.zero_grad(set_to_none=True)

    return rate(step, tokens.numel(), device, seconds, 4 if on_gpu else 1)


def measure(size: str, small: str, device: torch.device, data: Path, seconds: float) -> dict[str, Any]:
    """Measure everything the issue asks for, printing as it goes."""
    dtype = working_dtype("auto", device)
    peak = measured_peak(device, dtype)
    say(f"ceiling: {peak / 1e12:.1f} TFLOP/s ({dtype})")
    run = make_run(size, (False, 0))
    per_token = useful_operations(make_trainer(run, device, data).engine.encoder.config, run.pretrain.length, 0.15)
    free()
    found: dict[str, Any] = {"ceiling_tflops": peak / 1e12, "operations_per_token": per_token, "settings": {}}
    for name, separate in SETTINGS.items():
        speed = our_rate(make_run(size, separate), device, data, seconds)
        free()
        base = found["settings"].setdefault("Default", speed)
        found["settings"][name] = speed
        say(f"{size}, {name}: {shown(speed, per_token, peak)}, {speed / base:.3f} of Default")
    update = our_rate(make_run(size, (False, 0), 8), device, data, 2 * seconds)
    free()
    say(f"{size}, Default, updates of 8 micro-batches: {shown(update, per_token, peak)}")
    bert = bert_rate(run, device, seconds)
    free()
    say(f"{size}, Hugging Face BERT, compiled: {shown(bert, per_token, peak)}")
    speed = our_rate(make_run(small, (False, 0)), device, data, seconds)
    say(f"{small}, Default: {speed:,.0f} tokens/s")
    cut = {}
    for count in MICRO_BATCHES if device.type == "cuda" else ():
        free()
        cut[count] = our_rate(divided("narrow", count), device, data, seconds)
        say(f"narrow, Default, an update in {count} micro-batches: {cut[count]:,.0f} tokens/s")
    later = measured_peak(device, dtype)
    default = found["settings"]["Default"]
    found |= {
        "updates_of_8_micro_batches": update,
        "hugging_face_bert": bert,
        "ratio_to_hugging_face_bert": default / bert,
        "share_of_ceiling": default * per_token / peak,
        "slowest_setting_to_default": min(found["settings"].values()) / default,
        "small": speed,
        "narrow_by_micro_batches": cut,
        "ceiling_tflops_after": later / 1e12,
    }
    say(f"{default / bert:.2f} x Hugging Face BERT; the ceiling is {later / 1e12:.1f} TFLOP/s after it all")
    return found


def shown(speed: float, per_token: float, peak: float) -> str:
    """Return a speed in words."""
    return f"{speed:,.0f} tokens/s, {speed * per_token / peak:.3f} of the ceiling"


def explore(size: str, small: str, device: torch.device, data: Path, seconds: float) -> dict[str, Any]:
    """Compare our attention with torch's, then show which kernels take the time."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    found: dict[str, Any] = {}
    backends: dict[str, Any] = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
    if device.type == "cpu":
        backends = {}
    widths = layers.FUSED
    shapes = (size, small, "narrow") if device.type == "cuda" else (size, small)
    for shape in shapes:
        for name, backend in {"as it comes": None, **backends}.items():
            compiled_losses.cache_clear()  # the choice of attention is made while tracing
            torch._dynamo.reset()
            context: AbstractContextManager[Any] = nullcontext() if backend is None else sdpa_kernel([backend])
            layers.FUSED = widths if backend is None else ()
            label, began = f"{shape}, attention {name}", time.perf_counter()
            with context:
                found[label] = our_rate(make_run(shape, (False, 0)), device, data, seconds)
            say(f"{label}: {found[label]:,.0f} tokens/s ({time.perf_counter() - began:.0f} s in all)")
            free()
    layers.FUSED = widths
    compiled_losses.cache_clear()
    torch._dynamo.reset()
    for shape in shapes:
        say(kernels(make_run(shape, (False, 0)), device, data))
        free()
    return found


def kernels(run: Run, device: torch.device, data: Path) -> str:
    """Return a table of the kernels of ten updates."""
    from torch.profiler import ProfilerActivity, profile

    trainer = make_trainer(run, device, data)
    updates = trainer.batches_to_do()
    for _ in range(24):
        trainer.update(*next(updates))
    wait(device)
    on_gpu = device.type == "cuda"
    with profile(activities=[ProfilerActivity.CUDA if on_gpu else ProfilerActivity.CPU]) as seen:
        for _ in range(10):
            trainer.update(*next(updates))
        wait(device)
    updates.close()  # type: ignore[attr-defined]
    order = "self_cuda_time_total" if on_gpu else "self_cpu_time_total"
    return str(seen.key_averages().table(sort_by=order, row_limit=30, max_name_column_width=70))


def say(text: str) -> None:
    """Print now."""
    print(text, flush=True)


def main() -> None:
    """Read the command line, measure, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=["paper", "tiny"], default="paper")
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement, compilation aside")
    parser.add_argument("--explore", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    device = local_device(args.device)
    if device.type == "cpu":
        torch.set_num_threads(1)
    small = "small" if args.shape == "paper" else "tiny"
    with tempfile.TemporaryDirectory() as data:
        found = (explore if args.explore else measure)(args.shape, small, device, Path(data), args.seconds)
    about = {"date": utc(), "device": device_name(device), "versions": installed(PACKAGES), "shape": args.shape}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({**about, **found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
