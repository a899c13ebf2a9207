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


def test_a_run_is_read_as_it_stands(tmp_path: Path) -> None:
    run = read(tmp_path, RUN)
    assert (run.pretrain.betas, run.shape.layers, run.languages) == ((0.9, 0.999), 2, ("en", "fr"))


# key | value as JSON | what the line says; one that begins with : comes after the key
MISTAKES = """
pretrain.speed | 1 | : unknown key
pretrain.lr | "fast" | : expected a number, found the text 'fast'
pretrain.updates | 1.5 | : expected a whole number, found 1.5
pretrain.warmup | -1 | : expected at least 0, found -1
pretrain.betas | [0.9] | : expected at least 2 items, found a list of 1
pretrain.schedule | "cosine" | : expected one of inverse-sqrt, linear, found 'cosine'
pretrain.micro_batch_tokens | 8 | : 8 holds no sequence of length 16
pretrain.length | 64 | : 64 is longer than the model's 32 positions
pretrain.mask_rate | 0.0 | : expected more than 0, found 0.0
pretrain.random_share | 0.3 | : mask_share and random_share together exceed 1
pretrain.clip | 0.0 | : expected more than 0, found 0.0
selection_language | "de" | : 'de' is none of en, fr
shape.sentences | 2 | pretrain.sequences: expected lines, because the model has sentence vectors
shape | [] | : expected keys and values, found a list of 0
shape | {} | shape.layers: missing key (Transformer layers.)
"""


@pytest.mark.parametrize("row", MISTAKES.strip().splitlines())
def test_a_wrong_run_is_one_clear_line(tmp_path: Path, row: str) -> None:
    key, value, problem = row.split(" | ")
    with pytest.raises(InputError) as caught:
        read(tmp_path, changed(**{key.replace(".", "__"): json.loads(value)}))
    line = f"{key}{problem}" if problem.startswith(":") else problem
    assert str(caught.value).startswith(f"{tmp_path / 'run.json'}: {line}")
    assert "\n" not in str(caught.value)


def settings(tmp_path: Path, **changes: Any) -> Pretrain:
    values = {f"pretrain__{name}": value for name, value in changes.items()}
    return read(tmp_path, changed(**values)).pretrain


def test_the_papers_schedule(tmp_path: Path) -> None:
    paper = settings(tmp_path, lr=1e-4, warmup=30000, updates=417000, schedule="inverse-sqrt")
    rates = [learning_rate(update, paper) for update in (0, 15000, 30000, 120000)]
    assert rates == pytest.approx([1e-7, (1e-7 + 1e-4) / 2, 1e-4, 5e-5])


def test_linear_decay_ends_at_its_share(tmp_path: Path) -> None:
    linear = settings(tmp_path, lr=6e-3, warmup=100, updates=1100, schedule="linear", final_lr_share=0.05)
    rates = [learning_rate(update, linear) for update in (100, 600, 1100)]
    assert rates == pytest.approx([6e-3, 6e-3 * (1 + 0.05) / 2, 3e-4])


@pytest.mark.parametrize("schedule", ["inverse-sqrt", "linear"])
def test_no_warm_up_starts_at_the_peak(tmp_path: Path, schedule: str) -> None:
    assert learning_rate(0, settings(tmp_path, warmup=0, schedule=schedule, lr=0.5)) == pytest.approx(0.5)
