"""run.json: every key, and the learning rate it gives."""

import json
from pathlib import Path
from typing import Any

import pytest
from toy_runs import changed

from xling.core.errors import InputError
from xling.pretrain.config import read_run
from xling.pretrain.optimiser import learning_rate


def read(tmp_path: Path, run: dict[str, Any]) -> Any:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run))
    return read_run(path)


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


@pytest.mark.parametrize(
    ("schedule", "lr", "warmup", "rates"),
    [
        ("inverse-sqrt", 1e-4, 30000, {0: 1e-7, 15000: (1e-7 + 1e-4) / 2, 30000: 1e-4, 120000: 5e-5}),  # the paper's
        ("linear", 6e-3, 100, {100: 6e-3, 600: 6e-3 * (1 + 0.05) / 2, 1100: 3e-4}),
        ("inverse-sqrt", 0.5, 0, {0: 0.5}),
        ("linear", 0.5, 0, {0: 0.5}),
    ],
)
def test_the_rate_warms_up_and_decays(
    tmp_path: Path, schedule: str, lr: float, warmup: int, rates: dict[int, float]
) -> None:
    values = {"schedule": schedule, "lr": lr, "warmup": warmup, "updates": 1100, "final_lr_share": 0.05}
    run = read(tmp_path, changed(**{f"pretrain__{name}": value for name, value in values.items()}))
    assert {update: learning_rate(update, run.pretrain) for update in rates} == pytest.approx(rates)
