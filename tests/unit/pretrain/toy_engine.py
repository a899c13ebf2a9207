"""The engine of the toy run, trained update by update, and its loss by ordinary modules."""

import json
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional
from toy_runs import SIZE, changed

from xling.model.encoder import Encoder
from xling.pretrain.batches import Batch, Batches
from xling.pretrain.config import Run, read_run
from xling.pretrain.engine import Engine
from xling.pretrain.optimiser import learning_rate

CPU = torch.device("cpu")
SEPARATE = {"embeddings": True, "layers": 1}


def separated(embeddings: bool | str) -> dict[str, Any]:
    """Return what makes the toy run's embeddings, or the token vectors alone, and its first layer separate."""
    return {"separate": SEPARATE | {"embeddings": embeddings}, "softmax": "per-language"} if embeddings else {}


def make(toy: Path, tmp_path: Path, dtype: torch.dtype = torch.float32, **changes: Any) -> tuple[Run, Engine, Batches]:
    """Return the toy run with some values set, its engine and its batches."""
    path = tmp_path / "run.json"
    path.write_text(json.dumps(changed(**changes)))
    run, sizes = read_run(path), {"en": SIZE, "fr": SIZE}
    encoder = Encoder(run.model_config(sizes, path), run.seed)
    return run, Engine(encoder, run.pretrain, CPU, dtype), Batches(run, {code: toy / code for code in sizes}, sizes)


def train(run: Run, engine: Engine, batches: Batches, updates: range) -> list[float]:
    """Do some updates and return the loss of each."""
    losses = []
    for update in updates:
        languages = batches.languages(update)
        for micro, language in enumerate(languages):
            engine.accumulate(batches.batch(update, micro, language))
        engine.step(update, engine.present(languages), learning_rate(update, run.pretrain))
        losses.append(engine.trail[update].item())
    return losses


def plain_loss(encoder: Encoder, batch: Batch) -> torch.Tensor:
    """Return the loss by ordinary modules and a full softmax."""
    scores = encoder.logits(encoder(batch.tokens, batch.language)[-1], batch.language).flatten(0, 1)
    return functional.cross_entropy(scores[batch.picks], batch.targets)
