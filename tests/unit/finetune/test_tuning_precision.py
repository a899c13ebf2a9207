"""Training and prediction ask for their own precision: a card without bf16 trains in float32 and predicts in fp16."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from toy_material import prepare
from toy_tasks import write_model

from xling.align import frozen
from xling.align.frozen import FrozenTuner, Reader, Side, TaskLayers
from xling.finetune import tuner
from xling.finetune.settings import grid_points
from xling.finetune.trainer import Material, train_epoch
from xling.finetune.tuner import Tuner
from xling.model import layer_states
from xling.model.encoder import Encoder


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

    for module in (tuner, frozen, layer_states):
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
