"""An update: gradients, AdamW, clipping, the rate, languages that stand still; on a GPU compiled and captured alike."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from toy_runs import STILL, make, plain_loss, read, separated, state_of, train

from xling.model.adam import fused_adam, move, tick
from xling.model.encoder import Encoder
from xling.pretrain.engine import TRAIL, together
from xling.pretrain.optimiser import learning_rate, measure

WIDE = {"shape__width": 64, "shape__feedforward": 128, "shape__heads": 2}
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
every_separation = pytest.mark.parametrize("separate", [False, True, "tokens"])


@pytest.mark.parametrize(
    ("separate", "norm", "sentences"), [(False, "post", 0), (False, "pre", 3), (True, "pre", 0), ("tokens", "post", 0)]
)
def test_updates_equal_adamw_with_clipping_by_its_definition(toy, tmp_path, separate, norm, sentences):
    changes = separated(separate) | STILL | {"shape__norm": norm, "pretrain__clip": 0.5, "shape__sentences": sentences}
    changes["pretrain__sequences"] = "lines" if sentences else "streams"
    run, engine, batches = make(toy, tmp_path, pretrain__warmup=0, pretrain__lr=1e-2, **changes)
    other, p = Encoder(engine.encoder.config, run.seed).train(), run.pretrain
    parameters, (beta1, beta2) = dict(other.named_parameters()), p.betas
    moments = {name: (torch.zeros_like(w), torch.zeros_like(w)) for name, w in parameters.items()}
    steps = dict.fromkeys(parameters, 0)
    for update in range(4):
        losses = [plain_loss(other, batches.batch(update, m, lg)) for m, lg in enumerate(batches.languages(update))]
        loss, rate = torch.stack(losses).mean(), learning_rate(update, p)
        grads = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True)  # of an absent language: none
        found = {name: grad for name, grad in zip(parameters, grads, strict=True) if grad is not None}
        length = torch.cat([grad.flatten() for grad in found.values()]).norm()
        for name, grad in found.items():
            weight, (mean, square), steps[name] = parameters[name].data, moments[name], steps[name] + 1
            grad = grad / max(1.0, float(length / p.clip))
            mean.mul_(beta1).add_(grad * (1 - beta1))
            square.mul_(beta2).add_(grad**2 * (1 - beta2))
            root = (square / (1 - beta2 ** steps[name])).sqrt() + p.eps
            weight.mul_(1 - rate * p.weight_decay).sub_(rate / (1 - beta1 ** steps[name]) * mean / root)
        assert train(run, engine, batches, range(update, update + 1)) == [pytest.approx(loss.item(), rel=1e-5)]
        assert engine.norm.item() == pytest.approx(length.item(), rel=1e-4)
    assert set(steps.values()) == {3, 4}  # one update is without French
    mine = dict(engine.encoder.named_parameters())
    for name, parameter in parameters.items():
        torch.testing.assert_close(mine[name], parameter, atol=2e-5, rtol=1e-4, msg=name)


@pytest.mark.parametrize(
    ("separate", "device"),
    [(False, "cpu"), (True, "cpu"), ("tokens", "cpu"), pytest.param(True, "cuda:0", marks=needs_gpu)],
)
def test_an_absent_language_stands_still(toy, tmp_path, separate, device):
    dtype = torch.float32 if device == "cpu" else torch.bfloat16  # which a GPU steps in its own way
    run, engine, batches = make(toy, tmp_path, dtype, device, **WIDE, **separated(separate))
    train(run, engine, batches, range(6))  # both have moments now
    before, english = state_of(engine, "fr"), state_of(engine, "en")  # of a shared model the language vector alone
    positions = engine.encoder.path(1).embeddings.position.detach().clone()
    for update in range(6, 10):  # on a GPU, later steps are replayed
        engine.accumulate([batches.batch(update, 0, 0, engine.places)])
        present = engine.present([0])
        assert set(present) == {"en", "shared"}
        engine.step(update, present, 1e-2)
    assert all(map(torch.equal, before, state_of(engine, "fr")))
    assert not any(map(torch.equal, english, state_of(engine, "en")))
    stood = torch.equal(positions, engine.encoder.path(1).embeddings.position)
    assert stood == (separate is True)  # shared positions move with every language


def test_the_golden_curve(toy, tmp_path):
    """Twenty losses of the toy run; a change that must not alter numbers leaves them alone.

    Without dropout, whose draws differ between builds of torch.
    """
    run, engine, batches = make(toy, tmp_path, pretrain__updates=20, **STILL)
    losses = train(run, engine, batches, range(20))
    golden = json.loads((Path(__file__).parent / "golden_curve.json").read_text())
    assert losses == pytest.approx(golden, rel=1e-3)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits_follow_float32(toy, tmp_path, dtype):
    run, full, batches = make(toy, tmp_path, **STILL)
    _, half, _ = make(toy, tmp_path, dtype, **STILL)
    losses = [train(run, engine, batches, range(4)) for engine in (half, full)]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    assert half.norm.item() == pytest.approx(full.norm.item(), rel=0.05)  # gradients are unscaled
    working = half.optimiser.owned["shared"].working
    assert torch.equal(working, half.optimiser.owned["shared"].weights.to(dtype))


def test_the_single_pass_moves_as_the_fused_kernel_does():
    """What a GPU compiles, run as it stands against torch's kernel: weights, moments, and the copy in bf16."""
    generator, settings, rate = torch.Generator().manual_seed(1), (0.9, 0.98, 0.01, 1e-6), torch.tensor(3e-3)
    weights, mean, square = torch.randn(256, generator=generator), torch.zeros(256), torch.zeros(256)
    working, step, betas = torch.zeros(256, dtype=torch.bfloat16), torch.zeros(()), torch.tensor(settings[:2]).double()
    fused = [part.clone() for part in (weights, mean, square, step)]
    for _ in range(5):
        grads = 3 * torch.randn(256, generator=generator)
        norm, divisor = measure([grads[:100], grads[100:]], 1.0)
        assert norm.item() == pytest.approx(grads.norm().item(), rel=1e-5)
        move((weights, grads, mean, square, working), (rate, divisor, tick(step, betas)), settings)
        moments, clipped = ([fused[1]], [fused[2]]), grads / grads.norm()
        numbers = {"lr": rate, "eps": settings[3], "weight_decay": settings[2]}
        fused_adam([fused[0]], [clipped], moments, [fused[3]], settings[:2], **numbers)
    for mine, theirs in zip((weights, mean, square, step), fused, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-6, rtol=1e-5)
    assert torch.equal(working, weights.bfloat16())


def test_the_trail_goes_on_where_a_run_resumes(toy, tmp_path):
    _, engine, batches = make(toy, tmp_path)
    seen = {}
    for update in (7, 8, TRAIL + 2):
        engine.accumulate([batches.batch(update, 0, 0)])
        seen[update] = engine.total.item()
        engine.step(update, engine.present([0]), 1e-3)
    assert [engine.trail[update % TRAIL].item() for update in seen] == list(seen.values())
    assert engine.total.item() == 0
    assert engine.by_language[1].tolist() == [3, 0]


def test_fp16_skips_a_step_that_overflows_and_lowers_its_scale(toy, tmp_path):
    _, engine, batches = make(toy, tmp_path, torch.float16, **STILL)
    shared, scale = engine.optimiser.owned["shared"], engine.optimiser.scale
    assert scale is not None
    scale.fill_(1024.0)
    for update, spoilt, expected in ((0, False, 1024.0), (1, True, 512.0)):
        weights = shared.weights.clone()
        engine.accumulate([batches.batch(update, 0, 0)])
        if spoilt:
            shared.grads[5] = float("inf")
        engine.step(update, engine.present([0]), 1e-3)
        assert torch.equal(weights, shared.weights) == spoilt
        assert (shared.step.item(), scale.item()) == (1.0, expected)
    assert engine.optimiser.state()["scale"].item() == 512.0


@every_separation
@pytest.mark.parametrize("most", [0, 16_384])
def test_work_done_once_can_be_replayed(toy, tmp_path, separate, most, monkeypatch):
    """A captured graph repeats what was done when it was recorded; here the first call of each kind is repeated.

    Languages that are computed together have the losses and gradients that they have one after the other; their
    dropout differs.
    """
    monkeypatch.setattr("xling.pretrain.engine.TOGETHER", most)
    changes = separated(separate) | (STILL if most else {})
    run, plain, batches = make(toy, tmp_path, **changes)
    _, replayed, _ = make(toy, tmp_path, **changes)
    recorded: dict[Any, Any] = {}
    monkeypatch.setattr(replayed, "captures", True)  # batches are filled up to a fixed size then
    monkeypatch.setattr(replayed, "replay", lambda key, work: recorded.setdefault(key, work)())
    assert train(run, replayed, batches, range(8)) == pytest.approx(train(run, plain, batches, range(8)), rel=1e-5)
    kinds = {key[1:3] for key in recorded if key[0] == "micro"}
    alone = {((i,), fresh) for i, code in enumerate(("en", "fr")) for fresh in (("shared", code), (code,), ())}
    if most:  # the languages of an update may be one alone
        assert {((0, 1), ("shared", "en", "fr")), ((0, 1), ())} == kinds - alone
    else:  # first of the update; first of its language; neither
        assert kinds == alone


def test_only_small_micro_batches_of_different_languages_are_computed_together(toy, tmp_path):
    _, _, batches = make(toy, tmp_path)
    micro = [batches.batch(0, number, language) for number, language in enumerate((1, 0, 1, 1, 0))]
    tokens = micro[0].tokens.numel()
    numbers = [
        [[micro.index(batch) for batch in group] for group in together(micro, most)] for most in (2 * tokens, tokens)
    ]
    assert numbers == [[[1, 0], [4, 2], [3]], [[0], [1], [2], [3], [4]]]


@pytest.mark.parametrize(
    ("schedule", "decay_from", "lr", "warmup", "rates"),
    [
        ("inverse-sqrt", 0, 1e-4, 30000, {0: 1e-7, 15000: (1e-7 + 1e-4) / 2, 30000: 1e-4, 120000: 5e-5}),  # the paper's
        ("linear", 0, 6e-3, 100, {100: 6e-3, 600: 6e-3 * (1 + 0.05) / 2, 1100: 3e-4}),
        ("linear", 0.6, 6e-3, 100, {100: 6e-3, 660: 6e-3, 880: 6e-3 * (1 + 0.05) / 2, 1100: 3e-4}),
        ("linear", 0.05, 6e-3, 100, {100: 6e-3, 600: 6e-3 * (1 + 0.05) / 2}),  # the warm-up ends later
        ("linear", 1, 6e-3, 100, {1100: 6e-3}),
        ("inverse-sqrt", 0, 0.5, 0, {0: 0.5}),
        ("linear", 0, 0.5, 0, {0: 0.5}),
    ],
)
def test_the_rate_warms_up_and_decays(tmp_path, schedule, decay_from, lr, warmup, rates):
    values = {"schedule": schedule, "lr": lr, "warmup": warmup, "updates": 1100, "final_lr_share": 0.05}
    values["decay_from"] = decay_from
    run = read(tmp_path, **{f"pretrain__{name}": value for name, value in values.items()})
    assert {update: learning_rate(update, run.pretrain) for update in rates} == pytest.approx(rates)


@needs_gpu
@every_separation
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-3), (torch.bfloat16, 0.03)])
def test_captured_follows_plain(toy, tmp_path, separate, dtype, tolerance):
    changes = WIDE | STILL | separated(separate)
    run, plain, batches = make(toy, tmp_path, **changes)
    _, captured, _ = make(toy, tmp_path, dtype, "cuda:0", **changes)
    losses = train(run, captured, batches, range(24))
    assert losses == pytest.approx(train(run, plain, batches, range(24)), rel=tolerance)
    assert sum(graph is not None for graph in captured.replay.graphs.values()) >= 4


@needs_gpu
def test_dropout_differs_by_update_and_repeats_by_seed(toy, tmp_path):
    _, engine, batches = make(toy, tmp_path, torch.bfloat16, "cuda:0", **WIDE, pretrain__micro_batches=1)
    batch, losses = batches.batch(0, 0, 0, engine.places), []
    for seed in (1, 2, 1, 2, 1, 2):  # eager, captured, then replayed
        engine.accumulate([batch._replace(seed=seed)])
        losses.append(engine.total.item())
        engine.total.zero_()
        engine.filled.clear()
    assert losses[0] == pytest.approx(losses[2], rel=1e-3)
    assert losses[2] == losses[4]
    assert losses[3] == losses[5]
    assert losses[4] != losses[5]


@needs_gpu
def test_interrupted_and_resumed_gives_the_same_bits_with_deterministic_kernels(toy, tmp_path):
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
