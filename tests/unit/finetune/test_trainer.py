"""Grid points side by side: whatever runs beside a training changes nothing of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from toy_tasks import prepare, section

from xling.finetune import trainer
from xling.finetune.settings import Point, read_settings
from xling.finetune.trainer import in_turn, lanes, rate_scale, tune_point

POINTS = [Point(number, batch, rate, rate) for number, (batch, rate) in enumerate([(8, 1e-3), (4, 1e-2), (8, 1e-2)])]


def test_works_advance_in_turn_and_end_in_their_order() -> None:
    seen: list[str] = []

    def work(name: str, steps: int) -> Iterator[None]:
        for number in range(steps):
            seen.append(f"{name}{number}")
            yield
        return name

    assert in_turn([work(*one) for one in (("a", 1), ("b", 3), ("c", 0), ("d", 1))], [None, None]) == list("abcd")
    assert seen == ["a0", "b0", "b1", "b2", "d0"]
    assert in_turn([], [None]) == []


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("task", ["pos", "parsing"])
def test_trainings_on_streams_of_a_gpu_are_those_of_one_after_the_other(
    task: str, toy_model: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer, "SAVE_SECONDS", 0)  # states are saved from the GPU too
    encoder, material, _ = prepare(tmp_path, toy_model, task)
    found = {}
    for count in (1, 3):
        encoder.to("cuda")
        works = [tune_point(encoder, material, {}, point, tmp_path / str(count)) for point in POINTS]
        found[count] = in_turn(works, lanes(encoder, count))
    for alone, beside in zip(found[1], found[3], strict=True):
        assert beside["losses"] == pytest.approx(alone["losses"], rel=0.03)
    losses = [tuple(one["losses"]) for one in found[3]]
    assert len(set(losses)) == len(POINTS)  # and none is another's


def test_learning_rates_follow_the_schedule() -> None:
    linear, fixed = (read_settings(section("ner", schedule=name, warmup_share=0.1)) for name in ("linear", "fixed"))
    scales = [rate_scale(step, 100, linear) for step in range(100)]
    assert scales[:10] == pytest.approx([0.1 * (i + 1) for i in range(10)])
    assert scales[10:] == pytest.approx([(100 - step) / 90 for step in range(10, 100)])
    assert max(scales) == 1.0
    assert {rate_scale(step, 100, fixed) for step in range(100)} == {1.0}
