"""What trains and what does not, in which precision, and whose weights a language's text passes through at test."""

import copy
import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from toy_tasks import prepare, section, write_model

from xling.align import frozen
from xling.align.frozen import FrozenTuner, Reader, Side, TaskLayers
from xling.bpe.vocabulary import Vocabulary
from xling.finetune import tuner as tuner_module
from xling.finetune.data import Example, Speller
from xling.finetune.settings import Point, grid_points, read_settings
from xling.finetune.trainer import Material, initial_weights, make_tuner, rate_scale, train_epoch
from xling.finetune.tuner import Group, Tuner, shared_parameters
from xling.model import layer_states
from xling.model.encoder import Encoder
from xling.model.files import load_encoder

POINT = 1


def trained(folder: Path, model: tuple[Path, Path], task: str = "pos") -> tuple[Tuner, dict[str, list[Example]]]:
    encoder, material, sets = prepare(folder, model, task)
    point = grid_points(material.settings)[POINT]
    tuner = make_tuner(encoder, initial_weights(encoder), material, point)
    train_epoch(tuner, material, point, 0)
    return tuner, sets


@pytest.mark.parametrize(("embeddings", "layers"), [(False, 0), (False, 1), (True, 0), (True, 2), ("tokens", 2)])
def test_a_languages_own_parts_stay_and_shared_ones_move(embeddings: bool | str, layers: int, tmp_path: Path) -> None:
    model = write_model(tmp_path / "model", embeddings, layers)
    tuner, _ = trained(tmp_path, model)
    before, after = (dict(encoder.named_parameters()) for encoder in (load_encoder(model[1]), tuner.encoder))
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    added = {f"embeddings.shared.{part}" for part in ("position", "norm_weight", "norm_bias")}
    tables = {False: added | {"embeddings.shared.token"}, True: set(), "tokens": added}[embeddings]
    expected = {name for name in before if ".shared." in name and name.startswith("layers.")}
    assert moved == expected | tables
    assert all(not name.startswith(("language.", "softmax.")) for name in moved)
    if (embeddings, layers) == (True, 2):
        assert not moved  # nothing is shared: the head alone trains
    assert all(torch.is_tensor(value) for value in tuner.weights().values())
    assert any(name.startswith("head.") for name in tuner.weights())


def test_each_language_is_read_through_its_own_parts(separate_model: tuple[Path, Path], tmp_path: Path) -> None:
    tuner, sets = trained(tmp_path, separate_model)
    states = {code: outputs(tuner, sets[code], index) for index, code in enumerate(("en", "fr"))}
    with torch.no_grad():
        for name, parameter in tuner.encoder.named_parameters():
            if ".fr." in name:
                parameter.add_(0.5 * torch.randn_like(parameter))
    assert np.array_equal(outputs(tuner, sets["en"], 0), states["en"])
    assert not np.allclose(outputs(tuner, sets["fr"], 1), states["fr"])


def test_language_ids_are_passed_and_padding_changes_no_state(toy_model: tuple[Path, Path], tmp_path: Path) -> None:
    tuner, sets = trained(tmp_path, toy_model)
    assert not np.allclose(outputs(tuner, sets["fr"], 1), outputs(tuner, sets["fr"], 0))
    tokens = torch.from_numpy(tuner.layout(sets["en"][:1]).tokens)
    with torch.no_grad():
        plain, padded = tuner._states(tokens, 0), tuner._states(torch.nn.functional.pad(tokens, (0, 6)), 0)
    assert torch.allclose(plain, padded[:, : tokens.shape[1]], atol=1e-5)


def outputs(tuner: Tuner, examples: list[Example], language: int) -> np.ndarray:
    tuner.encoder.eval()
    layout = tuner.layout(examples)
    with torch.no_grad():
        states = tuner._states(torch.from_numpy(layout.tokens), language)
    return states.numpy()[layout.tokens > 0]


@pytest.mark.parametrize("task", ["xnli", "ner", "parsing", "pos"])
def test_predictions_do_not_depend_on_the_batch(task: str, toy_model: tuple[Path, Path], tmp_path: Path) -> None:
    tuner, sets = trained(tmp_path, toy_model, task)
    together = tuner.predict(sets["fr"], 1)
    alone = [tuner.predict([example], 1)[0] for example in sets["fr"]]
    assert all(np.array_equal(one, other) for one, other in zip(together, alone, strict=True))


def test_long_sentences_are_trained_on_and_predicted_word_for_word(
    toy_model: tuple[Path, Path], tmp_path: Path
) -> None:
    encoder, material, _ = prepare(tmp_path, toy_model, "parsing")
    words = ["the", "cat", "sees", "paris"] * 30
    record = {"words": words, "heads": list(range(120)), "deprels": ["root", *["obj"] * 119], "upos": ["NOUN"] * 120}
    long = material.task.encode(record, Speller(Vocabulary.load(toy_model[0]), "en", 24))
    assert len(long.windows) > 5
    point = grid_points(material.settings)[POINT]
    tuner = make_tuner(encoder, initial_weights(encoder), material, point)
    tuner.step([long, *material.train[:3]], 1.0, 1)
    found = tuner.predict([*material.dev, long], 0)[-1]
    assert found.shape == (2, 120)
    assert material.task.count(long, found)[-1] == 120


def test_every_point_starts_from_the_same_weights(toy_model: tuple[Path, Path], tmp_path: Path) -> None:
    encoder, material, _ = prepare(tmp_path, toy_model)
    start, points = initial_weights(encoder), grid_points(material.settings)
    first = make_tuner(encoder, start, material, points[1])
    heads = [first.weights()]
    train_epoch(first, material, points[1], 0)
    heads.append(make_tuner(encoder, start, material, points[1]).weights())
    assert all(torch.equal(heads[0][name], heads[1][name]) for name in heads[0])
    assert shared_parameters(encoder).keys() == start.keys()


def test_a_step_is_pytorchs_adam_with_two_learning_rates(toy_model: tuple[Path, Path], tmp_path: Path) -> None:
    encoder, material, _ = prepare(tmp_path, toy_model, "parsing")
    point = Point(0, 8, 1e-3, 5e-3)
    tuner = make_tuner(encoder, initial_weights(encoder), material, point)
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
    expected = [*shared, *head.parameters()]
    for found, wanted in zip(tuner.trained.values(), expected, strict=True):
        assert torch.allclose(found, wanted, atol=2e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_states_reach_the_head_normalised(norm: str, toy_model: tuple[Path, Path], tmp_path: Path) -> None:
    encoder, material, sets = prepare(tmp_path, toy_model)
    config = dataclasses.replace(encoder.config, shape=dataclasses.replace(encoder.config.shape, norm=norm))
    encoder = Encoder(config, 1).eval()
    tuner = make_tuner(encoder, initial_weights(encoder), material, grid_points(material.settings)[0])
    states = outputs(tuner, sets["en"], 0)
    assert np.allclose(states.mean(axis=1), 0, atol=1e-5)
    assert np.allclose(states.std(axis=1), 1, atol=1e-3)


def test_learning_rates_follow_the_schedule() -> None:
    linear, _ = read_settings(section("ner", warmup_share=0.1))
    fixed, _ = read_settings(section("ner", schedule="fixed", warmup_share=0.0))
    scales = [rate_scale(step, 100, linear) for step in range(100)]
    assert scales[:10] == pytest.approx([0.1 * (i + 1) for i in range(10)])
    assert scales[10:] == pytest.approx([(100 - step) / 90 for step in range(10, 100)])
    assert max(scales) == 1.0
    assert {rate_scale(step, 100, fixed) for step in range(100)} == {1.0}


def whole(encoder: Encoder, material: Material) -> Tuner:
    return Tuner(encoder, material.task, grid_points(material.settings)[0], 0, 3, 24)


def on_frozen(encoder: Encoder, material: Material) -> Tuner:
    sides, sizes = [Side(Reader(encoder, 0))], TaskLayers(1, 2, 32, 0.1)
    return FrozenTuner(sides, 1, sizes, material.task, grid_points(material.settings)[0], 3, 24)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list that grows by what every pass says of itself."""
    found: list[bool] = []

    def autocast(device: torch.device, training: bool = False) -> torch.autocast:
        found.append(training)
        return torch.autocast("cuda", torch.bfloat16, enabled=False)

    for module in (tuner_module, frozen, layer_states):
        monkeypatch.setattr(module, "autocast", autocast)
    return found


@pytest.mark.parametrize(("make", "training"), [(whole, {True}), (on_frozen, {True, False})])
def test_a_tuner_says_when_it_trains(
    asked: list[bool], make: Callable[[Encoder, Material], Tuner], training: set[bool], tmp_path: Path
) -> None:
    encoder, material, sets = prepare(tmp_path, write_model(tmp_path / "model", False, 0))
    made = make(encoder, material)
    train_epoch(made, material, grid_points(material.settings)[0], 0)
    assert set(asked) == training  # the frozen encoder below never trains
    asked.clear()
    made.predict(sets["en"], 0)
    assert set(asked) == {False}


def test_states_for_the_analyses_never_train(asked: list[bool], tmp_path: Path) -> None:
    encoder, _, _ = prepare(tmp_path, write_model(tmp_path / "model", False, 0))
    list(layer_states.layer_states(encoder.train(), torch.tensor([[2, 5, 2]]), 0))
    assert asked == [False]


def test_kept_state_goes_on_with_the_same_bits_and_an_empty_group_has_nothing_to_step() -> None:
    def parameters() -> list[nn.Parameter]:
        rng = np.random.default_rng(0)
        return [nn.Parameter(torch.tensor(rng.normal(size=size), dtype=torch.float32)) for size in ((7, 5), (11,))]

    def step(group: Group, number: int) -> None:
        rng = np.random.default_rng(number)
        group.rate.fill_(1e-2)
        group.step([torch.tensor(rng.normal(size=p.shape), dtype=torch.float32) for p in group.parameters])

    whole, halves, device = parameters(), parameters(), torch.device("cpu")
    first, second = Group(whole, device), Group(halves, device)
    for number in range(2):
        step(first, number), step(second, number)
    third = Group(halves, device)
    for name, tensor in third.state().items():
        tensor.copy_(second.state()[name])
    step(first, 2), step(third, 2)
    assert all(torch.equal(one, two) for one, two in zip(whole, halves, strict=True))
    assert not torch.equal(whole[0], parameters()[0])
    Group([], device).step([])
