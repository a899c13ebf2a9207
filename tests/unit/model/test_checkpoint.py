"""Checkpoints appear whole, damaged ones are passed over, old ones go."""

import logging
from pathlib import Path

import pytest
import torch

from xling.core.io import read_json, write_json
from xling.model.checkpoint import damage, newest, prune, save


def save_some(folder: Path, *updates: int) -> None:
    for update in updates:
        save(folder, {"weights": {"w": torch.full((50,), float(update))}}, {"update": update, "best_update": 1})


def test_the_newest_is_found_and_it_and_the_best_are_kept(tmp_path: Path) -> None:
    assert newest(tmp_path) is None
    save_some(tmp_path, 1, 2, 20, 4, 3)
    (tmp_path / ".step-0000026.77").mkdir()  # half written
    found = newest(tmp_path)
    assert found is not None
    assert (found.meta["update"], found.meta["best_update"], found.folder.name) == (20, 1, "step-0000020")
    assert found.tensors("weights")["w"][0].item() == 20.0
    prune(tmp_path, 2, best=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-0000002", "step-0000004", "step-0000020"]


@pytest.mark.parametrize(
    "harm", ["truncate", "flip", "remove", "meta", "edited", "other update", "a field", "no object"]
)
def test_a_damaged_newest_is_passed_over_with_a_warning(
    tmp_path: Path, harm: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_some(tmp_path, 1, 2)
    weights, meta = tmp_path / "step-0000002" / "weights.safetensors", tmp_path / "step-0000002" / "meta.json"
    content = weights.read_bytes()
    {
        "truncate": lambda: weights.write_bytes(content[:-7]),
        "flip": lambda: weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1])),
        "remove": weights.unlink,
        "meta": lambda: meta.write_text(meta.read_text()[:20]),
        "edited": lambda: meta.write_text(meta.read_text().replace('"best_update": 1', '"best_update": 2')),
        "other update": lambda: write_json(meta, {**read_json(meta), "update": 7}),
        "a field": lambda: write_json(meta, {k: v for k, v in read_json(meta).items() if k != "best_update"}),
        "no object": lambda: write_json(meta, [3]),
    }[harm]()
    monkeypatch.setattr(logging.getLogger("xling"), "propagate", True)
    with caplog.at_level(logging.WARNING, "xling"):
        found = newest(tmp_path, ["best_update"])
    assert found is not None
    assert found.meta["update"] == 1
    assert "step-0000002 is damaged and passed over" in caplog.text
    save_some(tmp_path, 2)  # when its update comes again, it is replaced
    assert damage(tmp_path / "step-0000002") == ""
