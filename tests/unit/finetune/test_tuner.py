"""One training on one encoder: what trains, by which steps, and through whose weights a text passes."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from toy_tasks import prepare, write_model

from xling.align.frozen import FrozenTuner, Side
from xling.align.plan import Options
from xling.core.tasks import TASKS
from xling.finetune import tuner as tuner_module
from xling.finetune.settings import Point
from xling.finetune.trainer import train_epoch
from xling.finetune.tuner import Tuner, shared_parameters
from xling.model import device
from xling.model.files import load_encoder

POINT = Point(0, 8, 1e-2, 1e-2)
MATRICES = ("qkv_weight", "out_weight", "up_weight", "down_weight")


def on_frozen(encoder, material, point):
    sizes = {"task_layers": 1, "heads": 2, "feedforward": 32, "dropout": 0.1}
    options = Options((1,), **sizes, epochs=1, batch=point.batch, lr=point.head_lr, warmup_share=0.1)
    return FrozenTuner([Side(encoder, 0, [])], [lambda states: states], 1, options, material)


def trained(folder, model, task="pos"):
    encoder, material, sets = prepare(folder, model, task)
    tuner = Tuner(encoder, material, POINT)
    list(train_epoch(tuner, 0))
    return tuner, sets


def outputs(tuner, examples, language):
    tuner._set_mode(training=False)
    layout = tuner.layout(examples)
    with torch.no_grad():
        states = tuner._states(torch.from_numpy(layout.tokens), language)
    return states.numpy()[layout.tokens > 0]


@pytest.mark.parametrize(("embeddings", "layers"), [(False, 0), (False, 1), (True, 0), (True, 2), ("tokens", 2)])
def test_a_languages_own_parts_stay_and_shared_ones_move(embeddings, layers, tmp_path):
    model = write_model(tmp_path / "model", embeddings, layers)
    tuner, _ = trained(tmp_path, model)
    before, after = (dict(encoder.named_parameters()) for encoder in (load_encoder(model[1]), tuner.encoder))
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    added = {f"embeddings.shared.{part}" for part in ("position", "norm_weight", "norm_bias")}
    tables = {False: added | {"embeddings.shared.token"}, True: set(), "tokens": added}[embeddings]
    assert moved == {name for name in before if ".shared." in name and name.startswith("layers.")} | tables
    if (embeddings, layers) == (True, 2):
        assert not moved  # nothing is shared: the head alone trains
    assert {name.split(".", 1)[1] for name in tuner.weights() if name.startswith("encoder.")} == moved
    assert any(name.startswith("head.") for name in tuner.weights())


def test_each_language_is_read_through_its_own_parts(toy_model, tmp_path):
    tuner, sets = trained(tmp_path, write_model(tmp_path / "separate", embeddings=True, layers=1))
    states = {code: outputs(tuner, sets[code], index) for index, code in enumerate(("en", "fr"))}
    with torch.no_grad():
        for name, parameter in tuner.encoder.named_parameters():
            if ".fr." in name:
                parameter.add_(0.5 * torch.randn_like(parameter))
    assert np.array_equal(outputs(tuner, sets["en"], 0), states["en"])
    assert not np.allclose(outputs(tuner, sets["fr"], 1), states["fr"])
    shared, _ = trained(tmp_path, toy_model)  # the language vectors alone
    assert not np.allclose(outputs(shared, sets["fr"], 1), outputs(shared, sets["fr"], 0))


def test_inference_reads_the_first_states_that_the_whole_encoder_has(toy_model, tmp_path):
    tuner, sets = trained(tmp_path, toy_model, "xnli")
    tuner._set_mode(training=False)
    layout = tuner.layout(sets["fr"])
    tokens = torch.from_numpy(layout.tokens)
    with torch.no_grad():
        whole = tuner.encoder(tokens, 1, tokens != 0)
        found = tuner._states(tokens, 1)
    torch.testing.assert_close(found, tuner.encoder.at_one_scale(whole[-1], len(whole) - 1)[:, :1])


@pytest.mark.parametrize("task", TASKS)
def test_predictions_do_not_depend_on_the_batch(task, toy_model, tmp_path):
    tuner, sets = trained(tmp_path, toy_model, task)
    together = tuner.predict(sets["fr"], 1)
    alone = [tuner.predict([example], 1)[0] for example in sets["fr"]]
    assert all(np.array_equal(one, other) for one, other in zip(together, alone, strict=True))


@pytest.fixture
def in_float64(monkeypatch):
    """Compute everything in float64, also what is float32 for certain (the states that the task layers read)."""
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("in_float64")
def test_a_step_is_pytorchs_adam_with_two_learning_rates(toy_model, tmp_path):
    """Adam divides by a gradient's size, so rounding errors of a gradient that is zero (of keys' biases, to which a
    softmax is blind) would be steps as large as any other; in float64 they are far below its epsilon.
    """
    encoder, material, _ = prepare(tmp_path, toy_model, "parsing")
    point = Point(0, 8, 1e-3, 5e-3)
    vars(material)["words"] = np.arange(encoder.config.sizes[0])  # all rows of the token table
    tuner = Tuner(encoder, material, point)
    copied, head = copy.deepcopy(tuner.encoder), copy.deepcopy(tuner.head)
    shared = list(shared_parameters(copied).values())
    groups = [{"params": shared, "lr": point.encoder_lr}, {"params": list(head.parameters()), "lr": point.head_lr}]
    plain = torch.optim.Adam(groups)
    for number, scale in enumerate((0.5, 1.0, 0.25)):
        examples = material.train[8 * number : 8 * number + 8]
        tuner.step(examples, scale, number)
        layout = tuner.layout(examples)
        torch.manual_seed(number)
        tokens = torch.from_numpy(layout.tokens)
        top = copied.train()(tokens, 0, None if bool((tokens != 0).all()) else tokens != 0)[-1]
        states = torch.nn.functional.layer_norm(top, top.shape[-1:])  # the toy normalises before, not after
        arrays = [[torch.from_numpy(a) for a in made(layout)] for made in (material.task.places, material.task.gold)]
        for group, peak in zip(plain.param_groups, (point.encoder_lr, point.head_lr), strict=True):
            group["lr"] = peak * scale
        plain.zero_grad()
        material.task.loss(head.train(), states, *arrays).backward()
        plain.step()
    for found, wanted in zip(tuner.trained.values(), [*shared, *head.parameters()], strict=True):
        torch.testing.assert_close(found, wanted, atol=1e-9, rtol=0)


@pytest.mark.parametrize("task", ["pos", "parsing"])
def test_in_a_loss_per_word_a_batch_counts_by_its_words(task, toy_model, tmp_path):
    """Its loss and its gradients are those of a mean over its words, times their share of the usual number."""
    encoder, material, _ = prepare(tmp_path, toy_model, task)
    ordered = sorted(material.train, key=lambda example: len(example.rows))
    usual = np.mean([len(example.rows) for example in material.train])
    for batch in (ordered[:8], ordered[-8:]):
        per_batch, per_word = (
            Tuner(copy.deepcopy(encoder), replace(material, settings=replace(material.settings, loss=loss)), POINT)
            for loss in ("per-batch", "per-word")
        )
        share = np.mean([len(example.rows) for example in batch]) / usual
        assert abs(share - 1) > 0.05
        for tuner in (per_batch, per_word):
            tuner.step(batch, 1.0, seed=3)
        assert per_word.mean_loss() == pytest.approx(share * per_batch.mean_loss())
        for plain, weighted in zip(per_batch.groups, per_word.groups, strict=True):
            torch.testing.assert_close(weighted.means, [mean * share for mean in plain.means], atol=1e-7, rtol=1e-4)


@pytest.mark.parametrize(("embeddings", "layers"), [(False, 0), (True, 1)])
def test_copies_in_bf16_train_as_autocast_does(embeddings, layers, tmp_path, monkeypatch):
    """What a GPU compiles, run as it stands; and the same bits after weights and optimiser were loaded again."""
    monkeypatch.setattr(tuner_module, "autocast", lambda *_: torch.autocast("cpu", torch.bfloat16))
    monkeypatch.setattr(tuner_module, "autocast_type", lambda *_, **__: torch.bfloat16)
    monkeypatch.setattr(tuner_module, "compiled", lambda function: function)
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    model, found = write_model(tmp_path / "model", embeddings, layers), []
    for copies in (False, True):
        monkeypatch.setattr(tuner_module, "worth_compiling", lambda *_, copies=copies: copies)
        encoder, material, _ = prepare(tmp_path, model, "parsing")
        tuner = Tuner(encoder, material, POINT)
        list(train_epoch(tuner, 0))
        halved = {n: p for n, p in encoder.named_parameters() if p.dtype == torch.bfloat16}
        assert set(halved) == {n for n in shared_parameters(encoder) if copies and n.split(".")[-1] in MATRICES}
        assert all(torch.equal(p, tuner.trained[f"encoder.{n}"].bfloat16()) for n, p in halved.items())
        kept, moments = tuner.weights(), copy.deepcopy(tuner.moments())
        list(train_epoch(tuner, 1))
        found.append(tuner.weights())
        tuner.put(kept, moments)
        list(train_epoch(tuner, 1))
        assert all(torch.equal(value, found[-1][name]) for name, value in tuner.weights().items())
    for name, plain in found[0].items():
        torch.testing.assert_close(found[1][name], plain, atol=1e-4, rtol=0)  # an epoch moves weights by .02


def test_rows_of_words_that_training_never_reads_need_no_optimiser(toy_model, tmp_path):
    tuners = []
    for whole in (True, False):
        encoder, material, sets = prepare(tmp_path, toy_model)
        if whole:
            vars(material)["words"] = np.arange(encoder.config.sizes[0])
        tuners.append(Tuner(encoder, material, POINT))
        list(train_epoch(tuners[-1], 0))
    (every, some), (table, rows) = tuners, (tuner.weights()["encoder.embeddings.shared.token"] for tuner in tuners)
    assert len(rows) < len(table) / 2
    assert every.mean_loss() == some.mean_loss()
    assert all(map(np.array_equal, every.predict(sets["fr"], 1), some.predict(sets["fr"], 1)))  # other words occur here
    assert some.numbers is not None
    assert torch.equal(table, some.all_rows[some.numbers][: len(table)])
    assert some.numbers[:3].tolist() == [0, 1, 2]


@pytest.mark.parametrize(("make", "training"), [(Tuner, {True}), (on_frozen, {True, False})])
def test_a_tuner_says_when_it_trains(make, training, toy_model, tmp_path, monkeypatch):
    asked: list[bool] = []
    monkeypatch.setattr(device, "autocast_type", lambda _, training: asked.append(training))
    encoder, material, sets = prepare(tmp_path, toy_model)
    made = make(encoder, material, POINT)
    list(train_epoch(made, 0))
    assert set(asked) == training  # the frozen encoder below never trains
    asked.clear()
    made.predict(sets["en"], 0)
    list(encoder.train().layer_states(torch.tensor([[2, 5, 2]]), 0))  # nor do states for the analyses
    assert set(asked) == {False}
