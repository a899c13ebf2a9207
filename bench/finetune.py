"""Fine-tuning against Hugging Face's BERT for token classification: the same bucketed batches, SDPA, bf16, one run.

python bench/finetune.py --out bench-finetune.json [--device cpu --shape tiny]
Both sides get the same padded batches in the same order from the same code, dropout and Adam on both. Tokens are those
of the sentences, padding not counted. Each side's time is the median of its rounds, which alternate.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor

from xling.core.errors import run
from xling.core.io import write_json
from xling.core.seeds import numpy_rng
from xling.finetune.batches import epoch_order, tensor, training_batches
from xling.finetune.data import Example
from xling.finetune.settings import Point
from xling.finetune.tasks import TAGS, Ner
from xling.finetune.tuner import Tuner
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder
from xling.pretrain.record import utc

SHAPES = {
    "paper": (Shape(8, 768, 12, 3072, "gelu", 0.1, 0.1, "post", 1e-12, 256, True), 90_000),
    "tiny": (Shape(2, 32, 2, 64, "gelu", 0.1, 0.1, "post", 1e-12, 64, True), 500),
}
RATE = 3e-5
ROUNDS = 5
HF: Any = transformers  # typed in parts only
Step = Callable[[Sequence[Example], int], None]


def made_up(count: int, size: int, longest: int) -> list[Example]:
    """Return sentences as long as those of WikiAnn and CoNLL, about 1.5 subwords a word."""
    rng = numpy_rng("bench", "finetune")
    lengths = np.clip(rng.lognormal(2.7, 0.7, count).round().astype(int), 3, longest - 2)
    return [_sentence(rng, int(length), size) for length in lengths]


def _sentence(rng: np.random.Generator, length: int, size: int) -> Example:
    tokens = np.concatenate([[2], rng.integers(4, size, length), [2]]).astype(np.int32)
    places = 1 + np.flatnonzero(rng.random(length) < 0.67)
    places = places if len(places) else np.array([1])
    labels = rng.integers(len(TAGS), size=len(places))
    return Example((tokens,), np.zeros(len(places), np.int32), places.astype(np.int32), labels)


def our_step(shape: Shape, size: int, batch: int, device: torch.device) -> tuple[Step, Tuner]:
    """Return one step of this package's fine-tuning."""
    config = ModelConfig(("en", "fr"), (size, size), shape, Separate(False, 0), "shared")
    tuner = Tuner(Encoder(config, 1).to(device), Ner(), Point(0, batch, RATE, RATE), 0, 1, shape.positions)
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


def compare(shape_name: str, batch: int, steps: int, device: torch.device) -> dict[str, Any]:
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
    rounds = [(seconds(ours, batches, device), seconds(theirs, batches, device)) for _ in range(ROUNDS)]
    mine, peer = (lengths.sum() / statistics.median(times) for times in zip(*rounds, strict=True))
    layouts = [tuner.layout(some).tokens.size for some in batches]
    found = {"shape": shape_name, "batch": batch, "tokens": int(lengths.sum()), "padding": sum(layouts) / lengths.sum()}
    return {**found, "ours_tokens_s": float(mine), "peer_tokens_s": float(peer), "ratio": float(mine / peer)}


def main() -> None:
    """Compare at each batch size of the paper's grid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="paper")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--steps", type=int, default=100, help="batches a round")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if args.device == "cpu":
        torch.set_num_threads(1)
    device = torch.device(args.device, 0) if args.device == "cuda" else torch.device("cpu")
    rows = [compare(args.shape, batch, args.steps, device) for batch in (16, 32)]
    print(f"{'batch':>5} {'padding':>8} {'ours tok/s':>12} {'peer tok/s':>12} {'ratio':>6}")
    for row in rows:
        speeds = f"{row['ours_tokens_s']:12.0f} {row['peer_tokens_s']:12.0f} {row['ratio']:6.2f}"
        print(f"{row['batch']:5} {row['padding']:8.3f} {speeds}")
    name = torch.cuda.get_device_name(0) if args.device == "cuda" else "cpu"
    about = {"date": utc(), "device": name, "torch": torch.__version__, "transformers": transformers.__version__}
    write_json(args.out, {**about, "rows": rows})


if __name__ == "__main__":
    run(main)
