"""The compiled and captured engine against the plain one on the CPU; needs a GPU."""

from pathlib import Path

import pytest
import torch
from toy_runs import SIZE, make, separated, train

from xling.model.encoder import Encoder
from xling.pretrain.batches import Batches
from xling.pretrain.config import Run
from xling.pretrain.engine import Engine
from xling.pretrain.optimiser import learning_rate

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
WIDE = {"shape__width": 64, "shape__feedforward": 128, "shape__heads": 2}
STILL = {**WIDE, "shape__dropout": 0.0, "shape__attention_dropout": 0.0}


def on_gpu(run: Run, dtype: torch.dtype) -> Engine:
    device = torch.device("cuda", 0)
    encoder = Encoder(run.model_config({"en": SIZE, "fr": SIZE}, Path("run.json")), run.seed).to(device)
    return Engine(encoder, run.pretrain, device, dtype)


def train_gpu(run: Run, engine: Engine, batches: Batches, updates: range) -> list[float]:
    for update in updates:
        languages = batches.languages(update)
        for micro, language in enumerate(languages):
            engine.accumulate(batches.batch(update, micro, language, engine.places))
        engine.step(update, engine.present(languages), learning_rate(update, run.pretrain))
    return engine.trail[updates.start : updates.stop].tolist()


@pytest.mark.parametrize("separate", [False, True, "tokens"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-3), (torch.bfloat16, 0.03)])
def test_captured_follows_plain(
    toy: Path, tmp_path: Path, separate: bool | str, dtype: torch.dtype, tolerance: float
) -> None:
    changes = separated(separate)
    run, plain, batches = make(toy, tmp_path, **STILL, **changes)
    captured = on_gpu(run, dtype)
    losses = train_gpu(run, captured, batches, range(24))
    assert losses == pytest.approx(train(run, plain, batches, range(24)), rel=tolerance)
    assert sum(graph is not None for graph in captured.replay.graphs.values()) >= 4


def test_dropout_differs_by_update_and_repeats_by_seed(toy: Path, tmp_path: Path) -> None:
    run, _, batches = make(toy, tmp_path, **WIDE, pretrain__micro_batches=1)
    engine = on_gpu(run, torch.bfloat16)
    batch, losses = batches.batch(0, 0, 0, engine.places), []
    for seed in (1, 2, 1, 2, 1, 2):  # eager, captured, then replayed
        engine.accumulate(batch._replace(seed=seed))
        losses.append(engine.total.item())
        engine.total.zero_()
        engine.filled.clear()
    assert losses[0] == pytest.approx(losses[2], rel=1e-3)
    assert losses[2] == losses[4]
    assert losses[3] == losses[5]
    assert losses[4] != losses[5]


def test_an_absent_language_stands_still_in_captured_steps(toy: Path, tmp_path: Path) -> None:
    run, _, batches = make(toy, tmp_path, **WIDE, **separated(True))
    engine = on_gpu(run, torch.bfloat16)
    train_gpu(run, engine, batches, range(6))
    french = engine.optimiser.owned["fr"]
    before = [t.clone() for t in (french.weights, french.exp_avg, french.exp_avg_sq, french.step)]
    for update in range(6, 12):
        engine.accumulate(batches.batch(update, 0, 0, engine.places))
        engine.step(update, engine.present([0]), 1e-3)
    for was, now in zip(before, (french.weights, french.exp_avg, french.exp_avg_sq, french.step), strict=True):
        assert torch.equal(was, now)
    assert engine.optimiser.owned["en"].step.item() > french.step.item()


def test_interrupted_and_resumed_gives_the_same_bits_with_deterministic_kernels(toy: Path, tmp_path: Path) -> None:
    torch.use_deterministic_algorithms(True)
    try:
        run, _, batches = make(toy, tmp_path, **WIDE)
        whole = on_gpu(run, torch.bfloat16)
        train_gpu(run, whole, batches, range(20))
        first = on_gpu(run, torch.bfloat16)
        train_gpu(run, first, batches, range(9))
        second = on_gpu(run, torch.bfloat16)
        for owner, part in second.optimiser.owned.items():
            part.weights.copy_(first.optimiser.owned[owner].weights)
        second.optimiser.load_state(first.optimiser.state())
        train_gpu(run, second, batches, range(9, 20))
        for owner, part in second.optimiser.owned.items():
            assert torch.equal(part.weights, whole.optimiser.owned[owner].weights), owner
    finally:
        torch.use_deterministic_algorithms(False)
