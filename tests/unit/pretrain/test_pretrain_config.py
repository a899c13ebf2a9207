"""run.json: every key, and the learning rate it gives."""

import json
from pathlib import Path
from typing import Any

import pytest
from toy_runs import RUN, changed

from xling.core.errors import InputError
from xling.pretrain.config import Pretrain, read_run
from xling.pretrain.optimiser import learning_rate


def read(tmp_path: Path, run: dict[str, Any]) -> Any:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run))
    return read_run(path)


def without(name: str) -> dict[str, Any]:
    run = changed()
    del run["pretrain"][name]
    return run


def test_a_run_is_read_as_it_stands(tmp_path: Path) -> None:
    run = read(tmp_path, RUN)
    assert run.pretrain.betas == (0.9, 0.999)
    assert run.shape.layers == 2
    assert run.languages == ("en", "fr")


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (without("lr"), r"no pretrain\.lr"),
        (changed(pretrain__speed=1), r"unknown key pretrain\.speed"),
        (changed(pretrain__lr="fast"), r"pretrain\.lr: expected float, not 'fast'"),
        (changed(pretrain__updates=1.5), r"pretrain\.updates: expected int, not 1\.5"),
        (changed(pretrain__betas=[0.9]), r"pretrain\.betas: expected a list of 2"),
        (changed(pretrain__schedule="cosine"), "expected one of inverse-sqrt, linear, not 'cosine'"),
        (changed(selection_language="de"), "selection_language: 'de' is none of en, fr"),
        (changed(pretrain__length=64, pretrain__micro_batch_tokens=64), r"64 tokens, but shape\.positions is 32"),
        (changed(pretrain__micro_batch_tokens=8), "8 hold no sequence of 16"),
        (changed(pretrain__mask_rate=0.0), "mask_rate must lie in"),
        (changed(pretrain__clip=0.0), r"pretrain\.clip: expected more than 0"),
        (changed(shape__sentences=2), r"shape\.sentences: sentence vectors need pretrain\.sequences: lines"),
        (changed(shape=[]), "shape: expected an object"),
    ],
)
def test_a_wrong_run_is_one_clear_line(tmp_path: Path, run: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, run)
    assert str(caught.value).startswith(str(tmp_path / "run.json"))
    assert "\n" not in str(caught.value)


def settings(tmp_path: Path, **changes: Any) -> Pretrain:
    values = {f"pretrain__{name}": value for name, value in changes.items()}
    return read(tmp_path, changed(**values)).pretrain


def test_the_papers_schedule(tmp_path: Path) -> None:
    paper = settings(tmp_path, lr=1e-4, warmup=30000, updates=417000, schedule="inverse-sqrt")
    assert learning_rate(0, paper) == pytest.approx(1e-7)
    assert learning_rate(15000, paper) == pytest.approx((1e-7 + 1e-4) / 2)
    assert learning_rate(30000, paper) == pytest.approx(1e-4)
    assert learning_rate(120000, paper) == pytest.approx(5e-5)


def test_linear_decay_ends_at_its_share(tmp_path: Path) -> None:
    linear = settings(tmp_path, lr=6e-3, warmup=100, updates=1100, schedule="linear", final_lr_share=0.05)
    assert learning_rate(100, linear) == pytest.approx(6e-3)
    assert learning_rate(600, linear) == pytest.approx(6e-3 * (1 + 0.05) / 2)
    assert learning_rate(1100, linear) == pytest.approx(3e-4)


@pytest.mark.parametrize("schedule", ["inverse-sqrt", "linear"])
def test_no_warm_up_starts_at_the_peak(tmp_path: Path, schedule: str) -> None:
    assert learning_rate(0, settings(tmp_path, warmup=0, schedule=schedule, lr=0.5)) == pytest.approx(0.5)
