"""Whole jobs: every task through the command, killed and restarted, collected, with its floors."""

import json
import multiprocessing
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_tasks import command, job_process, settings_json, write_records

from xling.core.io import read_json
from xling.finetune import collect, run

TASKS = ("xnli", "ner", "parsing", "pos")


@pytest.mark.parametrize("task", TASKS)
def test_a_job_learns_its_task_and_is_collected(
    task: str, toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    changes = {"epochs": 8} if task != "xnli" else {"epochs": 2, "examples_per_epoch": 40}
    arguments = command(tmp_path, task, toy_model, "job", settings=settings_json(task, **changes))
    assert call_with(run.main, arguments).code == 0
    result = read_json(tmp_path / "job.json")
    assert [point["number"] for point in result["points"]] == [0, 1]
    assert [point["encoder_lr"] for point in result["points"]] == [1e-3, 1e-2]
    for point in result["points"]:
        assert len(point["dev"]) == changes["epochs"]
        assert point["dev_score"] == max(point["dev"]) == point["dev"][point["best_epoch"] - 1]
        columns = [np.array(value.split(), dtype=int) for value in point["test"]["fr"]["items"].values()]
        assert [len(column) for column in columns] == [24] * len(columns)
    if task != "xnli":
        assert result["points"][1]["dev_score"] > 60
        assert result["points"][1]["losses"][-1] < result["points"][1]["losses"][0]
    assert call_with(collect.main, ["--results", tmp_path / "job.json", "--out", tmp_path / "score.json"]).code == 0
    score = read_json(tmp_path / "score.json")
    best = max(result["points"], key=lambda point: point["dev_score"])
    french = score["languages"]["fr"]
    assert score["selected"] == [best["number"]]
    assert french["score"] == next(iter(best["test"]["fr"]["measures"].values()))
    assert french["interval"][0] <= french["score"] <= french["interval"][1]
    assert len(score["points"]) == 2
    assert "items" not in json.dumps(score["points"])


def test_a_killed_job_goes_on_to_the_same_result(
    toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    short = settings_json("parsing", epochs=2)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["xling.finetune.run"])
    assert call_with(run.main, command(tmp_path, "parsing", toy_model, "whole", settings=short)).code == 0
    broken = command(tmp_path, "parsing", toy_model, "broken", settings=short)
    codes = []
    for die_after in (1, 2, None):  # within the first point, within the second, not at all
        child = context.Process(target=job_process, args=(broken, die_after, str(tmp_path / "log")))
        child.start()
        child.join(120)
        codes.append(child.exitcode)
    assert codes == [-signal.SIGKILL, -signal.SIGKILL, 0]
    assert "epoch 1 of" not in (tmp_path / "log").read_text()  # the last attempt had only the end left to do
    assert read_json(tmp_path / "broken.json") == read_json(tmp_path / "whole.json")


def test_shuffled_target_labels_change_no_selection(
    toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    assert call_with(run.main, command(tmp_path, "pos", toy_model, "right")).code == 0
    test = tmp_path / "pos.test.jsonl"
    records = [json.loads(line) for line in test.read_text().splitlines()]
    rng = np.random.default_rng(0)
    shuffled = [{**one, "upos": [one["upos"][i] for i in rng.permutation(len(one["upos"]))]} for one in records]
    other = write_records(tmp_path / "shuffled.jsonl", shuffled)
    assert call_with(run.main, command(tmp_path, "pos", toy_model, "wrong", test=f"fr={other}")).code == 0
    right, wrong = (collect.summarise(collect.merge([tmp_path / f"{name}.json"], None)) for name in ("right", "wrong"))
    assert right["selected"] == wrong["selected"]
    for one, two in zip(right["points"], wrong["points"], strict=True):
        assert [one[key] for key in ("dev", "losses", "best_epoch")] == [
            two[key] for key in ("dev", "losses", "best_epoch")
        ]
    assert right["languages"]["fr"]["score"] != wrong["languages"]["fr"]["score"]


def test_points_in_two_jobs_equal_points_in_one(
    toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    for name, points in (("both", "0,1"), ("first", "0"), ("second", "1")):
        assert call_with(run.main, command(tmp_path, "pos", toy_model, name, points=points)).code == 0
    paths = [tmp_path / f"{name}.json" for name in ("second", "first")]
    together = collect.merge([tmp_path / "both.json"], "abc")
    assert collect.summarise(collect.merge(paths, "abc")) == collect.summarise(together)
    found = call_with(collect.main, ["--results", paths[0], "--out", tmp_path / "score.json"])
    assert found.code == 2
    assert "points [1] where 0 to 1 were expected" in found.error
    assert not (tmp_path / "score.json").exists()


def test_untrained_encoders_need_run_json_alone(
    toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "run.json").write_text((toy_model[1] / "run.json").read_text())
    arguments = command(tmp_path, "pos", toy_model, "floor", encoder=tmp_path / "bare", points="0")
    assert call_with(run.main, [*arguments, "--untrained"]).code == 0
    result = read_json(tmp_path / "floor.json")
    assert result["untrained"] is True
    found = call_with(run.main, command(tmp_path, "pos", toy_model, "other", encoder=tmp_path / "bare"))
    assert found.code == 2
    assert "model.json" in found.error


def test_results_of_another_configuration_are_refused(
    toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    assert call_with(run.main, command(tmp_path, "pos", toy_model, "job")).code == 0
    found = call_with(
        collect.main, ["--results", tmp_path / "job.json", "--config-hash", "xyz", "--out", tmp_path / "s.json"]
    )
    assert found.code == 2
    assert "of configuration 'abc', not 'xyz'" in found.error


def test_a_work_directory_of_another_job_is_refused(
    toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    assert call_with(run.main, command(tmp_path, "pos", toy_model, "job", points="0")).code == 0
    found = call_with(run.main, command(tmp_path, "pos", toy_model, "job", points="0", seed=8))
    assert found.code == 2
    assert "belongs to another job: seed is 7 there, 8 here" in found.error


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"points": "0,2"}, "expected different numbers from 0 to 1"),
        ({"points": "a"}, "expected numbers"),
        ({"test": "de=x.jsonl"}, "the encoder has no language 'de'"),
        ({"source": "de"}, "the encoder has no language 'de'"),
        ({"settings": "{"}, "--settings is not JSON"),
        ({"settings": '{"epochs": 1}'}, "examples_per_epoch: missing key"),
        ({"settings": settings_json("parsing").replace('"arc"', '"ark"')}, "biaffine.arc: missing key"),
    ],
)
def test_wrong_flags_are_told_in_one_line(
    changes: dict[str, Any], problem: str, toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    found = call_with(run.main, command(tmp_path, "pos", toy_model, "job", **changes))
    assert found.code == 2
    assert found.error.count("\n") == 1
    assert problem in found.error
    assert not (tmp_path / "job.json").exists()


def test_parsing_needs_the_sizes_of_its_parser(
    toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    found = call_with(run.main, command(tmp_path, "parsing", toy_model, "job", settings=settings_json("pos")))
    assert found.code == 2
    assert "--settings: no biaffine" in found.error
