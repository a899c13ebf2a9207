"""An update: gradients, AdamW, clipping, and languages that stand still while the other is trained."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from toy_runs import make, plain_loss, separated, train

from xling.model.encoder import Encoder
from xling.pretrain.engine import TRAIL
from xling.pretrain.optimiser import learning_rate, measure, move, tick

STILL = {"shape__dropout": 0.0, "shape__attention_dropout": 0.0}
FRESH = [(True, True), (False, True), (False, False)]  # first of the update; first of its language; neither


@pytest.mark.parametrize("separate", [False, True, "tokens"])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_updates_equal_plain_adamw_with_clipping(toy: Path, tmp_path: Path, separate: bool | str, norm: str) -> None:
    changes = separated(separate) | STILL | {"shape__norm": norm, "pretrain__clip": 0.5}
    run, engine, batches = make(toy, tmp_path, pretrain__warmup=0, pretrain__lr=1e-2, **changes)
    other = Encoder(engine.encoder.config, run.seed).train()
    p = run.pretrain
    adam = torch.optim.AdamW(other.parameters(), betas=p.betas, eps=p.eps, weight_decay=p.weight_decay)
    for update in range(4):
        languages = batches.languages(update)
        adam.zero_grad()
        loss = sum(plain_loss(other, batches.batch(update, m, lg)) for m, lg in enumerate(languages)) / p.micro_batches
        loss.backward()
        norm_found = torch.nn.utils.clip_grad_norm_(other.parameters(), p.clip)
        adam.param_groups[0]["lr"] = learning_rate(update, p)
        adam.step()
        assert train(run, engine, batches, range(update, update + 1)) == [pytest.approx(loss.item(), rel=1e-5)]
        assert engine.norm.item() == pytest.approx(norm_found.item(), rel=1e-4)
    mine = dict(engine.encoder.named_parameters())
    for name, parameter in other.named_parameters():
        torch.testing.assert_close(mine[name], parameter, atol=2e-5, rtol=1e-4, msg=name)


@pytest.mark.parametrize("separate", [False, True, "tokens"])
def test_an_absent_language_stands_still(toy: Path, tmp_path: Path, separate: bool | str) -> None:
    run, engine, batches = make(toy, tmp_path, **separated(separate))
    train(run, engine, batches, range(3))  # both have moments now
    french = engine.optimiser.owned["fr"]  # of a shared model this is the language vector alone
    before = [t.clone() for t in (french.weights, french.exp_avg, french.exp_avg_sq, french.step)]
    english = engine.optimiser.owned["en"].weights.clone()
    positions = engine.encoder.path(1).embeddings.position.detach().clone()
    engine.accumulate(batches.batch(3, 0, 0))
    present = engine.present([0])
    assert set(present) == {"en", "shared"}
    engine.step(3, present, 1e-2)
    for was, now in zip(before, (french.weights, french.exp_avg, french.exp_avg_sq, french.step), strict=True):
        assert torch.equal(was, now)
    assert not torch.equal(english, engine.optimiser.owned["en"].weights)
    stood = torch.equal(positions, engine.encoder.path(1).embeddings.position)
    assert stood == (separate is True)  # shared positions move with every language


def test_the_golden_curve(toy: Path, tmp_path: Path) -> None:
    """Twenty losses of the toy run; a change that must not alter numbers leaves them alone.

    Without dropout, whose draws differ between builds of torch.
    """
    run, engine, batches = make(toy, tmp_path, pretrain__updates=20, **STILL)
    losses = train(run, engine, batches, range(20))
    golden = json.loads((Path(__file__).parent / "golden_curve.json").read_text())
    assert losses == pytest.approx(golden, rel=1e-3)


@pytest.mark.parametrize(("sequences", "sentences"), [("streams", 0), ("lines", 3)])
def test_it_learns(toy: Path, tmp_path: Path, sequences: str, sentences: int) -> None:
    changes = {"pretrain__sequences": sequences, "shape__sentences": sentences, "shape__norm": "pre"}
    changes |= {"pretrain__mask_rate": 0.3, "pretrain__lr": 1e-2, "pretrain__warmup": 20, "pretrain__micro_batches": 1}
    run, engine, batches = make(toy, tmp_path, **changes)
    before = [engine.encoder.get_parameter("embeddings.shared.sentence").detach().clone()] if sentences else []
    losses = train(run, engine, batches, range(120))
    assert all(not torch.equal(was, engine.encoder.get_parameter("embeddings.shared.sentence")) for was in before)
    assert sum(losses[-10:]) / 10 < sum(losses[:10]) / 10 - 0.4


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits_follow_float32(toy: Path, tmp_path: Path, dtype: torch.dtype) -> None:
    run, full, batches = make(toy, tmp_path, **STILL)
    _, half, _ = make(toy, tmp_path, dtype, **STILL)
    losses = [train(run, engine, batches, range(4)) for engine in (half, full)]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    assert half.norm.item() == pytest.approx(full.norm.item(), rel=0.05)  # gradients are unscaled
    working = half.optimiser.owned["shared"].working
    assert torch.equal(working, half.optimiser.owned["shared"].weights.to(dtype))


def test_the_single_pass_moves_as_the_fused_kernel_does() -> None:
    """What a GPU compiles, run as it stands against torch's AdamW: weights, moments, and the copy in bf16."""
    generator, settings = torch.Generator().manual_seed(1), (0.9, 0.98, 0.01, 1e-6)
    weights, mean, square = torch.randn(256, generator=generator), torch.zeros(256), torch.zeros(256)
    working, step, betas = torch.zeros(256, dtype=torch.bfloat16), torch.zeros(()), torch.tensor(settings[:2]).double()
    other = torch.nn.Parameter(weights.clone())
    adam = torch.optim.AdamW([other], lr=3e-3, betas=settings[:2], weight_decay=settings[2], eps=settings[3])
    for _ in range(5):
        grads = 3 * torch.randn(256, generator=generator)
        norm, divisor = measure([grads[:100], grads[100:]], 1.0)
        assert norm.item() == pytest.approx(grads.norm().item(), rel=1e-5)
        move((weights, grads, mean, square, working), (torch.tensor(3e-3), divisor, tick(step, betas)), settings)
        other.grad = grads / grads.norm()
        adam.step()
    torch.testing.assert_close(weights, other.detach(), atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(square, adam.state[other]["exp_avg_sq"], atol=1e-9, rtol=1e-5)
    assert step.item() == 5
    assert torch.equal(working, weights.bfloat16())


def test_the_trail_goes_on_where_a_run_resumes(toy: Path, tmp_path: Path) -> None:
    _, engine, batches = make(toy, tmp_path)
    seen = {}
    for update in (7, 8, TRAIL + 2):
        engine.accumulate(batches.batch(update, 0, 0))
        seen[update] = engine.total.item()
        engine.step(update, engine.present([0]), 1e-3)
    assert [engine.trail[update % TRAIL].item() for update in seen] == list(seen.values())
    assert engine.total.item() == 0
    assert engine.by_language[1].tolist() == [3, 0]


def test_fp16_skips_a_step_that_overflows_and_lowers_its_scale(toy: Path, tmp_path: Path) -> None:
    _, engine, batches = make(toy, tmp_path, torch.float16, **STILL)
    shared = engine.optimiser.owned["shared"]
    engine.optimiser.scale.fill_(1024.0)  # type: ignore[union-attr]
    engine.accumulate(batches.batch(0, 0, 0))
    engine.step(0, engine.present([0]), 1e-3)
    assert (shared.step.item(), engine.optimiser.scale.item()) == (1.0, 1024.0)  # type: ignore[union-attr]
    weights = shared.weights.clone()
    engine.accumulate(batches.batch(1, 0, 0))
    shared.grads[5] = float("inf")
    engine.step(1, engine.present([0]), 1e-3)
    assert torch.equal(weights, shared.weights)
    assert (shared.step.item(), engine.optimiser.scale.item()) == (1.0, 512.0)  # type: ignore[union-attr]
    saved = engine.optimiser.state()
    assert saved["scale"].item() == 512.0


@pytest.mark.parametrize("separate", [False, True, "tokens"])
def test_work_done_once_can_be_replayed(
    toy: Path, tmp_path: Path, separate: bool | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A captured graph repeats what was done when it was recorded; here the first call of each kind is repeated."""
    changes = separated(separate)
    run, plain, batches = make(toy, tmp_path, **changes)
    _, replayed, _ = make(toy, tmp_path, **changes)
    recorded: dict[Any, Any] = {}
    monkeypatch.setattr(replayed, "captures", True)
    monkeypatch.setattr(replayed, "replay", lambda key, work: recorded.setdefault(key, work)())
    places = replayed.places
    monkeypatch.setattr(
        batches, "batch", lambda *number, make=batches.batch: make(*number, places)
    )  # filled up to a fixed size
    assert train(run, replayed, batches, range(8)) == pytest.approx(train(run, plain, batches, range(8)), rel=1e-5)
    kinds = {key[:3] for key in recorded if key[0] == "micro"}
    assert kinds == {("micro", language, fresh) for language in (0, 1) for fresh in FRESH}
