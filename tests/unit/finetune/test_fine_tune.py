"""Whole plans through the command: every task, side by side, killed and restarted, with its floors."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from toy_tasks import KINDS, command, run_killed, section

from xling.core.io import read_json
from xling.finetune import fine_tune
from xling.model import device

Model = tuple[Path, Path]
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def whole(toy_model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the toy data of parsing and tagging, and the results of a plan that was never interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["run", *command(folder, "parsing pos", toy_model, "whole")])
        fine_tune.main()
    return folder


@pytest.mark.parametrize(("task", "epochs"), [("xnli", 1), ("ner", 7), ("parsing", 5), ("pos", 4)])
def test_a_job_learns_its_task_and_is_scored(
    task: str, epochs: int, toy_model: Model, tmp_path: Path, call: Call
) -> None:
    rates, best = ([1e-3, 1e-2, 3e-3], 2) if task == "xnli" else ([1e-2], 1)
    grid = {"batch": [8], "encoder_lr": rates, "head_lr": None}
    settings = section(task, epochs=epochs, examples_per_epoch=40 if task == "xnli" else None, grid=grid, best=best)
    tests = {code: str(tmp_path / f"{task}.{name}.jsonl") for code, name in (("en", "dev"), ("fr", "test"))}
    flags = command(tmp_path, task, toy_model, "out", 150, settings=settings, test=tests)
    assert call(fine_tune.main, *flags).code == 0
    result = read_json(tmp_path / f"out/jobs/{task}.json")
    assert [(point["number"], point["encoder_lr"]) for point in result["points"]] == list(enumerate(rates))
    for point in result["points"]:
        assert len(point["dev"]) == epochs
        assert point["dev_score"] == max(point["dev"]) == point["dev"][point["best_epoch"] - 1]
        assert next(iter(point["test"]["en"]["measures"].values())) == pytest.approx(point["dev_score"])  # its weights
        columns = [np.array(value.split(), dtype=int) for value in point["test"]["fr"]["items"].values()]
        assert [len(column) for column in columns] == [24] * len(columns)
    if task != "xnli":
        assert point["dev_score"] > 60
        assert point["losses"][-1] < point["losses"][0]
    score = read_json(tmp_path / f"out/{task}.json")
    selected = sorted(result["points"], key=lambda point: -point["dev_score"])[:best]
    french = score["languages"]["fr"]
    assert score["selected"] == [point["number"] for point in selected]
    means = [next(iter(point["test"]["fr"]["measures"].values())) for point in selected]
    assert french["score"] == pytest.approx(np.mean(means))
    assert french["interval"][0] <= french["score"] <= french["interval"][1]
    assert "items" not in json.dumps(score["points"])
    assert not list((tmp_path / "out.work").iterdir())  # nothing is left to resume from


def same_files(one: Path, other: Path) -> bool:
    names = sorted(path.relative_to(one) for path in one.rglob("*.json"))
    return len(names) == 4 and all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def test_side_by_side_has_the_same_scores_as_one_after_the_other(toy_model: Model, whole: Path, call: Call) -> None:
    flags = [*command(whole, "parsing pos", toy_model, "beside"), "--side-by-side", 3]
    assert call(fine_tune.main, *flags).code == 0
    assert same_files(whole / "whole", whole / "beside")


def test_a_killed_process_goes_on_to_the_same_scores(toy_model: Model, whole: Path, tmp_path: Path) -> None:
    broken = command(whole, "parsing pos", toy_model, "broken")
    deaths = (3, 3)  # in the second point of the first task, in the first of the second task
    log = run_killed(broken, deaths, whole / "broken", tmp_path / "log", "xling.finetune.fine_tune")
    assert "parsing point 1 epoch" not in log  # the first task was done by then
    assert "pos point 0 epoch 2 of" not in log
    assert "pos point 0 epoch 3 of" in log
    assert same_files(whole / "whole", whole / "broken")


def test_a_job_goes_on_in_no_other_precision_than_it_began_in(
    toy_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["run", *command(tmp_path, "pos", toy_model, "out")])
    args, folders = fine_tune.parse_args(), set()
    for kind, half in KINDS:
        monkeypatch.setattr(device, "half_type", lambda half=half: half)
        folders.add(fine_tune.work_folder(args, fine_tune.read_plan(args.plan), "toy", torch.device(kind)))
    assert len(folders) == len(KINDS)


def test_shuffled_target_labels_change_no_selection(toy_model: Model, whole: Path, tmp_path: Path, call: Call) -> None:
    records = [json.loads(line) for line in (whole / "pos.test.jsonl").read_text().splitlines()]
    rng = np.random.default_rng(0)
    shuffled = [{**one, "upos": [one["upos"][i] for i in rng.permutation(len(one["upos"]))]} for one in records]
    other = tmp_path / "shuffled.jsonl"
    other.write_text("".join(json.dumps(one) + "\n" for one in shuffled))
    assert call(fine_tune.main, *command(whole, "pos", toy_model, "wrong", test={"fr": str(other)})).code == 0
    right, wrong = (read_json(whole / f"{name}/pos.json") for name in ("whole", "wrong"))
    assert right["selected"] == wrong["selected"]
    for one, two in zip(right["points"], wrong["points"], strict=True):
        assert all(one[key] == two[key] for key in ("dev", "losses", "best_epoch"))
    assert right["languages"]["fr"]["score"] != wrong["languages"]["fr"]["score"]


def test_untrained_encoders_need_run_json_alone(
    toy_model: Model, tmp_path: Path, call: Call, refused: Callable[..., str]
) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "run.json").write_text((toy_model[1] / "run.json").read_text())
    arguments = command(tmp_path, "pos", toy_model, "floor", encoder=tmp_path / "bare")
    assert "model.safetensors" in refused(fine_tune.main, *arguments, out=tmp_path / "floor")
    assert call(fine_tune.main, *[*arguments, "--untrained"]).code == 0
    assert read_json(tmp_path / "floor/jobs/pos.json")["untrained"] is True


BAD = '{"words": ["the", "cat"], "tags": ["O", "B-LOC"]}\n{"words": ["the", "cat"], "tags": ["O", "B-FOO"]}\n'


@pytest.mark.parametrize(
    ("task", "changes", "problem"),
    [
        ("pos", {"settings": section("pos", best=3)}, "settings.best: the score is the mean of 3 grid points, but"),
        ("pos", {"test": {"de": "x.jsonl"}}, "x.jsonl: no such file"),
        ("pos", {"test": {"de": "pos.test.jsonl"}}, "the encoder has no language 'de' (it has en, fr)"),
        ("pos", {"task": "posing"}, "pos.task: expected one of xnli, ner, parsing, pos, found 'posing'"),
        ("pos", {"settings": {"epochs": 1}}, "out.plan: pos.settings.examples_per_epoch: missing key"),
        ("parsing", {"settings": section("pos")}, "parsing.settings.biaffine: missing key, which parsing needs"),
        ("ner", {"train": "bad.jsonl"}, "bad.jsonl, line 2: tags: 'B-FOO'"),
        ("ner", {"test": {"fr": "bad.jsonl"}}, "bad.jsonl, line 2: tags: 'B-FOO'"),
    ],
)
def test_a_wrong_plan_or_file_ends_a_job_before_it_trains(
    task: str, changes: Any, problem: str, toy_model: Model, tmp_path: Path,
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text(BAD)
    arguments = command(Path(), task, toy_model, "out", **changes)
    assert problem in refused(fine_tune.main, *arguments, out=Path("out"))
    assert not list(Path().glob("out.work/*/*/point*"))
    Path("out.plan").write_text("{}")
    assert "out.plan: no entry at all" in refused(fine_tune.main, *arguments, out=Path("out"))
