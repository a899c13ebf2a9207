"""Whole jobs of contextual transfer through the command: results, restarts, floors, and input that is wrong."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from toy_contextual import OPTIONS, command
from unit.finetune.toy_tasks import KINDS, run_killed, write_model

from xling.align.transfer_contextual import Plan, choose_work, main, parse_args
from xling.core.io import read_json
from xling.core.records import read_record
from xling.model import device

Call = Callable[..., Any]
Toy = tuple[Path, Path]
SHORT = OPTIONS | {"layers": [1], "epochs": 2}


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    """Return vocabulary and encoder of a bilingual model."""
    return write_model(tmp_path_factory.mktemp("model"))


def test_a_job_tests_every_layer_task_and_way(toy: Toy, tmp_path: Path, call: Call) -> None:
    arguments = command(tmp_path, toy, "job", ("ner", "parsing"), options=OPTIONS | {"epochs": 1})
    assert call(main, *arguments).code == 0
    result = read_json(tmp_path / "job.json")
    done = [(one["layer"], one["task"], one["way"]) for one in result["trainings"]]
    tasks, ways = ("ner", "parsing"), ("plain", "aligned")
    assert done == [(layer, task, way) for layer in (0, 2) for task in tasks for way in ways]
    for one in result["trainings"]:
        assert set(one["scores"]) == {"en", "fr"}
        assert all(found["low"] <= found["score"] <= found["high"] for found in one["scores"].values())
        assert set(one["map_cosine"]) == ({"fr"} if one["way"] == "aligned" else set())
    assert (result["config"], result["source"], result["sentences"]) == ("abc", "en", 60)
    assert not list((tmp_path / "job.work").iterdir())  # or a forced rerun would find the old scores
    assert result["links"]["fr"] == sum(len(line.split()) for line in (tmp_path / "links.txt").read_text().splitlines())


def test_a_killed_job_goes_on_to_the_same_result(toy: Toy, tmp_path: Path, call: Call) -> None:
    assert call(main, *command(tmp_path, toy, "whole", options=SHORT)).code == 0
    broken = command(tmp_path, toy, "broken", options=SHORT)
    module = "xling.align.transfer_contextual"
    log = run_killed(broken, (2,), tmp_path / "broken.json", tmp_path / "log", module)  # within the second training
    assert "plain (1 of 2)" not in log  # the last attempt had only the second training left to do
    assert "epoch 1 of" not in log  # and of that only its last epoch
    assert read_json(tmp_path / "broken.json") == read_json(tmp_path / "whole.json")


def test_a_job_goes_on_in_no_other_precision_than_it_began_in(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["run", *command(tmp_path, toy, "job")])
    args, folders = parse_args(), set()
    for kind, half in KINDS:
        monkeypatch.setattr(device, "half_type", lambda half=half: half)
        plan = read_record(Plan, read_json(args.plan), args.plan)
        folders.add(choose_work(plan, args.work_below, torch.device(kind)))
    assert len(folders) == len(KINDS)


def test_untrained_encoders_need_run_json_alone(toy: Toy, tmp_path: Path, call: Call) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "run.json").write_text((toy[1] / "run.json").read_text())
    changes = {"options": SHORT, "ways": ["aligned"], "untrained": True}
    assert call(main, *command(tmp_path, (toy[0], bare), "floor", **changes)).code == 0
    assert read_json(tmp_path / "floor.json")["untrained"] is True
    found = call(main, *command(tmp_path, (toy[0], bare), "floor", **changes | {"untrained": False}))
    assert found.code == 2
    assert "model.safetensors: no such file" in found.error


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("links.txt", lambda lines: lines[:-1], "links.txt: 59 lines of links for 60 sentences"),
        ("links.txt", lambda lines: [*lines, "0-0"], "links.txt: more than 60 lines of links for 60 sentences"),
        ("links.txt", lambda lines: ["0-40", *lines[1:]], "links.txt, line 1: link 0-40, but the sentences have"),
        ("links.txt", lambda lines: ["0:0", *lines[1:]], "links.txt, line 1: '0:0' is not a link"),
        ("links.txt", lambda lines: ["" for _ in lines], "links.txt: no links at all"),
        ("fr.txt", lambda lines: lines[:-1], "links 60 sentences with 59"),
        ("fr.txt", lambda lines: [*lines[:2], "", *lines[3:]], "fr.txt, line 3: a blank line"),
        ("en.txt", lambda _: [], "en.txt: empty where sentences were expected"),
    ],
)
def test_wrong_files_are_one_line(
    name: str, change: Any, problem: str, toy: Toy, tmp_path: Path, refused: Callable[..., None]
) -> None:
    arguments, path = command(tmp_path, toy, "job"), tmp_path / name
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))
    refused(main, *arguments, problem=problem, out=tmp_path / "job.json")


ONE = {"encoder": "x", "vocab": "y", "parallel": "z"}
TESTED = {"x": {"task": "ner", "train": "a", "dev": "b", "test": {"ru": "c"}}}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"options": OPTIONS | {"layers": [0, 9]}}, "no layer 9 in the encoder of en: its layers are 0 to 2"),
        ({"options": OPTIONS | {"layers": []}}, "job.plan: options.layers: expected at least 1 items"),
        ({"options": OPTIONS | {"heads": 3}}, "3 heads do not divide the width 16"),
        ({"options": OPTIONS | {"epoch": 1}}, "job.plan: options.epoch: unknown key (did you mean 'epochs'?)"),
        ({"languages": {"en": ONE}}, "job.plan: languages: expected en and at least one other"),
        ({"languages": {"en": ONE, "fr": ONE}}, "job.plan: languages.fr.links: missing key"),
        ({"languages": {"en": {"encoder": "x"}, "fr": {}}}, "languages.en.vocab: missing key"),
        ({"data": TESTED}, "job.plan: data.x.test: no encoder reads ru"),
        ({"ways": ["upwards"]}, "job.plan: ways[0]: expected one of plain, aligned, found 'upwards'"),
    ],
)
def test_wrong_plans_are_one_line(
    changes: Any, problem: str, toy: Toy, tmp_path: Path, refused: Callable[..., None]
) -> None:
    refused(main, *command(tmp_path, toy, "job", **changes), problem=problem, out=tmp_path / "job.json")
