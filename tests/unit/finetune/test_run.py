"""Whole plans through the command: every task, killed and restarted, in parts, collected, with its floors."""

import json
import multiprocessing
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_tasks import command, job_process, section, write_records

from xling.core.io import read_json
from xling.finetune import collect, run

TASKS = ("xnli", "ner", "parsing", "pos")
Model = tuple[Path, Path]
Call = Callable[..., Any]


@pytest.mark.parametrize("task", TASKS)
def test_a_job_learns_its_task_and_is_scored(task: str, toy_model: Model, tmp_path: Path, call: Call) -> None:
    changes = {"epochs": 8} if task != "xnli" else {"epochs": 2, "examples_per_epoch": 40}
    assert call(run.main, *command(tmp_path, task, toy_model, "out", settings=section(task, **changes))).code == 0
    result = read_json(tmp_path / f"out/jobs/{task}.json")
    assert [(point["number"], point["encoder_lr"]) for point in result["points"]] == [(0, 1e-3), (1, 1e-2)]
    for point in result["points"]:
        assert len(point["dev"]) == changes["epochs"]
        assert point["dev_score"] == max(point["dev"]) == point["dev"][point["best_epoch"] - 1]
        columns = [np.array(value.split(), dtype=int) for value in point["test"]["fr"]["items"].values()]
        assert [len(column) for column in columns] == [24] * len(columns)
    if task != "xnli":
        assert result["points"][1]["dev_score"] > 60
        assert result["points"][1]["losses"][-1] < result["points"][1]["losses"][0]
    score = read_json(tmp_path / f"out/{task}.json")
    best = max(result["points"], key=lambda point: point["dev_score"])
    french = score["languages"]["fr"]
    assert score["selected"] == [best["number"]]
    assert french["score"] == next(iter(best["test"]["fr"]["measures"].values()))
    assert french["interval"][0] <= french["score"] <= french["interval"][1]
    assert "items" not in json.dumps(score["points"])
    assert not list((tmp_path / "out.work").iterdir())  # nothing is left to resume from


def test_a_killed_process_goes_on_to_the_same_scores(toy_model: Model, tmp_path: Path, call: Call) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["xling.finetune.run"])
    assert call(run.main, *command(tmp_path, "ner parsing", toy_model, "whole")).code == 0
    broken, codes = command(tmp_path, "ner parsing", toy_model, "broken"), []
    for die_after in (4, 4, None):  # in the second point of the first task, in the second task, not at all
        child = context.Process(target=job_process, args=(broken, die_after, str(tmp_path / "log")))
        child.start()
        child.join(120)
        codes.append(child.exitcode)
        assert (tmp_path / "broken").exists() == (die_after is None)  # all results appear at the end
    assert codes == [-signal.SIGKILL, -signal.SIGKILL, 0]
    log = (tmp_path / "log").read_text()
    assert "ner point 1 epoch" not in log  # the first task was done by then
    assert "parsing point 0 epoch 1 of" not in log
    for name in ("jobs/ner", "jobs/parsing", "ner", "parsing"):
        assert read_json(tmp_path / f"broken/{name}.json") == read_json(tmp_path / f"whole/{name}.json")


def test_parts_of_a_grid_are_collected_to_the_score_of_the_whole(toy_model: Model, tmp_path: Path, call: Call) -> None:
    assert call(run.main, *command(tmp_path, "ner pos", toy_model, "whole")).code == 0
    for number in (0, 1):
        assert call(run.main, *command(tmp_path, "pos", toy_model, f"part{number}", points=[number])).code == 0
        assert not (tmp_path / f"part{number}/pos.json").exists()  # a part has no score
    parts, out = [tmp_path / f"part{number}/jobs/pos.json" for number in (1, 0)], tmp_path / "score.json"
    for results, config, problem in (
        (parts[:1], "abc", "points [1] where 0 to 1 were expected"),
        (parts, "xyz", "of another configuration: abc, not xyz"),
        ([*parts, tmp_path / "whole/jobs/ner.json"], "abc", "another task than in"),
        ([tmp_path / "whole/pos.json"], "abc", "not the result of a fine-tuning job"),
    ):
        found = call(collect.main, *["--results", *results, "--config-hash", config, "--out", out])
        assert (found.code, out.exists()) == (2, False)
        assert problem in found.error
    assert call(collect.main, *["--results", *parts, "--config-hash", "abc", "--out", out]).code == 0
    assert read_json(out) == read_json(tmp_path / "whole/pos.json")


def test_shuffled_target_labels_change_no_selection(toy_model: Model, tmp_path: Path, call: Call) -> None:
    assert call(run.main, *command(tmp_path, "pos", toy_model, "right")).code == 0
    records = [json.loads(line) for line in (tmp_path / "pos.test.jsonl").read_text().splitlines()]
    rng = np.random.default_rng(0)
    shuffled = [{**one, "upos": [one["upos"][i] for i in rng.permutation(len(one["upos"]))]} for one in records]
    other = write_records(tmp_path / "shuffled.jsonl", shuffled)
    assert call(run.main, *command(tmp_path, "pos", toy_model, "wrong", test={"fr": str(other)})).code == 0
    right, wrong = (read_json(tmp_path / f"{name}/pos.json") for name in ("right", "wrong"))
    assert right["selected"] == wrong["selected"]
    for one, two in zip(right["points"], wrong["points"], strict=True):
        assert all(one[key] == two[key] for key in ("dev", "losses", "best_epoch"))
    assert right["languages"]["fr"]["score"] != wrong["languages"]["fr"]["score"]


def test_untrained_encoders_need_run_json_alone(toy_model: Model, tmp_path: Path, call: Call) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "run.json").write_text((toy_model[1] / "run.json").read_text())
    arguments = command(tmp_path, "pos", toy_model, "floor", encoder=tmp_path / "bare", points=[0])
    assert call(run.main, *[*arguments, "--untrained"]).code == 0
    assert read_json(tmp_path / "floor/jobs/pos.json")["untrained"] is True
    found = call(run.main, *arguments)
    assert (found.code, "model.safetensors" in found.error) == (2, True)


@pytest.mark.parametrize(
    ("task", "changes", "problem"),
    [
        ("pos", {"points": [0, 2]}, "pos.points: [0, 2] (expected different numbers from 0 to 1)"),
        ("pos", {"points": "a"}, "pos.points: a (expected"),
        ("pos", {"test": {"de": "x.jsonl"}}, "x.jsonl: no such file"),
        ("pos", {"test": {}}, "pos.test: expected files by language, found {}"),
        ("pos", {"task": "posing"}, "pos.task: 'posing' is none of xnli, ner, parsing, pos"),
        ("pos", {"speed": 1}, "pos: speed missing or unknown"),
        ("pos", {"settings": {"epochs": 1}}, "examples_per_epoch"),
        (
            "parsing",
            {"settings": section("parsing") | {"biaffine": {"ark": 1}}},
            "biaffine.arc",
        ),
        ("parsing", {"settings": section("pos")}, "no biaffine, which parsing needs"),
    ],
)
def test_a_wrong_plan_is_refused_in_one_line(
    task: str, changes: dict[str, Any], problem: str, toy_model: Model, tmp_path: Path, call: Call
) -> None:
    found = call(run.main, *command(tmp_path, task, toy_model, "out", **changes))
    assert (found.code, found.error.count("\n")) == (2, 1)
    assert problem in found.error
    assert "settings" not in changes or f"out.plan: {task}.settings: " in found.error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("text", "problem"), [("{", "not JSON"), ("[]", "one entry per result"), ('{"a": 1}', "a: ")])
def test_a_plan_that_is_none_is_refused(text: str, problem: str, toy_model: Model, tmp_path: Path, call: Call) -> None:
    flags = command(tmp_path, "pos", toy_model, "out")
    (tmp_path / "out.plan").write_text(text)
    found = call(run.main, *flags)
    assert (found.code, found.error.count("\n"), problem in found.error) == (2, 1, True)
    assert "out.plan" in found.error


def test_a_language_that_the_encoder_does_not_know_is_refused(toy_model: Model, tmp_path: Path, call: Call) -> None:
    test = {"de": str(tmp_path / "pos.test.jsonl")}
    found = call(run.main, *command(tmp_path, "pos", toy_model, "out", test=test))
    assert (found.code, "the encoder has no language 'de' (it has en, fr)" in found.error) == (2, True)


@pytest.mark.parametrize("file", ["train", "dev", "test"])
def test_a_bad_file_ends_a_job_before_it_trains(file: str, toy_model: Model, tmp_path: Path, call: Call) -> None:
    bad, good = tmp_path / "bad.jsonl", '{"words": ["the", "cat"], "tags": ["O", "B-LOC"]}'
    bad.write_text(good + "\n" + good.replace("B-LOC", "B-FOO") + "\n")
    given = {file: {"fr": str(bad)} if file == "test" else str(bad)}
    found = call(run.main, *command(tmp_path, "ner", toy_model, "out", **given))
    assert found.code == 2
    assert f"{bad}, line 2: tags: 'B-FOO'" in found.error
    assert not list(tmp_path.glob("out.work/*/*/point*"))
