"""The compiled and captured engine against the plain one on the CPU; needs a GPU."""

from pathlib import Path

import pytest
import torch
from toy_runs import STILL, make, separated, state_of, train

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
WIDE = {"shape__width": 64, "shape__feedforward": 128, "shape__heads": 2}


@pytest.mark.parametrize("separate", [False, True, "tokens"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-3), (torch.bfloat16, 0.03)])
def test_captured_follows_plain(
    toy: Path, tmp_path: Path, separate: bool | str, dtype: torch.dtype, tolerance: float
) -> None:
    changes = WIDE | STILL | separated(separate)
    run, plain, batches = make(toy, tmp_path, **changes)
    _, captured, _ = make(toy, tmp_path, dtype, "cuda:0", **changes)
    losses = train(run, captured, batches, range(24))
    assert losses == pytest.approx(train(run, plain, batches, range(24)), rel=tolerance)
    assert sum(graph is not None for graph in captured.replay.graphs.values()) >= 4


def test_dropout_differs_by_update_and_repeats_by_seed(toy: Path, tmp_path: Path) -> None:
    _, engine, batches = make(toy, tmp_path, torch.bfloat16, "cuda:0", **WIDE, pretrain__micro_batches=1)
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
    run, engine, batches = make(toy, tmp_path, torch.bfloat16, "cuda:0", **WIDE, **separated(True))
    train(run, engine, batches, range(6))
    before = state_of(engine, "fr")
    for update in range(6, 12):
        engine.accumulate(batches.batch(update, 0, 0, engine.places))
        engine.step(update, engine.present([0]), 1e-3)
    assert all(map(torch.equal, before, state_of(engine, "fr")))
    assert engine.optimiser.owned["en"].step.item() > engine.optimiser.owned["fr"].step.item()


def test_interrupted_and_resumed_gives_the_same_bits_with_deterministic_kernels(toy: Path, tmp_path: Path) -> None:
    torch.use_deterministic_algorithms(True)
    try:
        run, whole, batches = make(toy, tmp_path, torch.bfloat16, "cuda:0", **WIDE)
        first, second = (make(toy, tmp_path, torch.bfloat16, "cuda:0", **WIDE)[1] for _ in range(2))
        train(run, whole, batches, range(20))
        train(run, first, batches, range(9))
        for owner, part in second.optimiser.owned.items():
            part.weights.copy_(first.optimiser.owned[owner].weights)
        second.optimiser.load_state(first.optimiser.state())
        train(run, second, batches, range(9, 20))
        for owner in second.optimiser.owned:
            assert all(map(torch.equal, state_of(second, owner), state_of(whole, owner))), owner
    finally:
        torch.use_deterministic_algorithms(False)
