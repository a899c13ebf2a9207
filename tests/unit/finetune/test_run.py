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

from xling.core.io import read_json, write_json
from xling.finetune import collect, run

Model = tuple[Path, Path]
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def whole(toy_model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the toy data of parsing and tagging, and the results of a plan that was never interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["run", *command(folder, "parsing pos", toy_model, "whole")])
        run.main()
    return folder


@pytest.mark.parametrize(("task", "epochs"), [("xnli", 1), ("ner", 7), ("parsing", 5), ("pos", 4)])
def test_a_job_learns_its_task_and_is_scored(
    task: str, epochs: int, toy_model: Model, tmp_path: Path, call: Call
) -> None:
    rates = [1e-3, 1e-2] if task == "xnli" else [1e-2]
    grid = {"batch": [8], "encoder_lr": rates, "head_lr": None}
    settings = section(task, epochs=epochs, examples_per_epoch=40 if task == "xnli" else None, grid=grid)
    tests = {code: str(tmp_path / f"{task}.{name}.jsonl") for code, name in (("en", "dev"), ("fr", "test"))}
    flags = command(tmp_path, task, toy_model, "out", 150, settings=settings, test=tests)
    assert call(run.main, *flags).code == 0
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
    best = max(result["points"], key=lambda point: point["dev_score"])
    french = score["languages"]["fr"]
    assert score["selected"] == [best["number"]]
    assert french["score"] == next(iter(best["test"]["fr"]["measures"].values()))
    assert french["interval"][0] <= french["score"] <= french["interval"][1]
    assert "items" not in json.dumps(score["points"])
    assert not list((tmp_path / "out.work").iterdir())  # nothing is left to resume from


def test_a_killed_process_goes_on_to_the_same_scores(toy_model: Model, whole: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["xling.finetune.run"])
    broken, codes = command(whole, "parsing pos", toy_model, "broken"), []
    for die_after in (4, 4, None):  # in the second point of the first task, in the second task, not at all
        child = context.Process(target=job_process, args=(broken, die_after, str(tmp_path / "log")))
        child.start()
        child.join(120)
        codes.append(child.exitcode)
        assert (whole / "broken").exists() == (die_after is None)  # all results appear at the end
    assert codes == [-signal.SIGKILL, -signal.SIGKILL, 0]
    log = (tmp_path / "log").read_text()
    assert "parsing point 1 epoch" not in log  # the first task was done by then
    assert "pos point 0 epoch 1 of" not in log
    for name in ("jobs/parsing", "jobs/pos", "parsing", "pos"):
        assert read_json(whole / f"broken/{name}.json") == read_json(whole / f"whole/{name}.json")


def test_parts_of_a_grid_are_collected_to_the_score_of_the_whole(
    toy_model: Model, whole: Path, tmp_path: Path, call: Call, refused: Callable[..., None]
) -> None:
    for number in (0, 1):
        assert call(run.main, *command(whole, "pos", toy_model, f"part{number}", points=[number])).code == 0
        assert not (whole / f"part{number}/pos.json").exists()  # a part has no score
    parts, out = [whole / f"part{number}/jobs/pos.json" for number in (1, 0)], tmp_path / "score.json"
    for results, config, problem in (
        (parts[:1], "abc", "points [1] where 0 to 1 were expected"),
        (parts, "xyz", "of another configuration: abc, not xyz"),
        ([*parts, whole / "whole/jobs/parsing.json"], "abc", "another task than in"),
        ([whole / "whole/pos.json"], "abc", "not the result of a fine-tuning job"),
    ):
        flags = ["--results", *results, "--config-hash", config, "--out", out]
        refused(collect.main, *flags, problem=problem, out=out)
    assert call(collect.main, *["--results", *parts, "--config-hash", "abc", "--out", out]).code == 0
    assert read_json(out) == read_json(whole / "whole/pos.json")


def test_shuffled_target_labels_change_no_selection(toy_model: Model, whole: Path, tmp_path: Path, call: Call) -> None:
    records = [json.loads(line) for line in (whole / "pos.test.jsonl").read_text().splitlines()]
    rng = np.random.default_rng(0)
    shuffled = [{**one, "upos": [one["upos"][i] for i in rng.permutation(len(one["upos"]))]} for one in records]
    other = write_records(tmp_path / "shuffled.jsonl", shuffled)
    assert call(run.main, *command(whole, "pos", toy_model, "wrong", test={"fr": str(other)})).code == 0
    right, wrong = (read_json(whole / f"{name}/pos.json") for name in ("whole", "wrong"))
    assert right["selected"] == wrong["selected"]
    for one, two in zip(right["points"], wrong["points"], strict=True):
        assert all(one[key] == two[key] for key in ("dev", "losses", "best_epoch"))
    assert right["languages"]["fr"]["score"] != wrong["languages"]["fr"]["score"]


def test_untrained_encoders_need_run_json_alone(
    toy_model: Model, tmp_path: Path, call: Call, refused: Callable[..., None]
) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "run.json").write_text((toy_model[1] / "run.json").read_text())
    arguments = command(tmp_path, "pos", toy_model, "floor", encoder=tmp_path / "bare", points=[0])
    refused(run.main, *arguments, problem="model.safetensors", out=tmp_path / "floor")
    assert call(run.main, *[*arguments, "--untrained"]).code == 0
    assert read_json(tmp_path / "floor/jobs/pos.json")["untrained"] is True


BAD = '{"words": ["the", "cat"], "tags": ["O", "B-LOC"]}\n{"words": ["the", "cat"], "tags": ["O", "B-FOO"]}\n'


@pytest.mark.parametrize(
    ("task", "changes", "problem"),
    [
        ("pos", {"points": [0, 2]}, "out.plan: pos.points: expected different numbers from 0 to 1, found [0, 2]"),
        ("pos", {"points": [1, 1]}, "pos.points: expected different numbers"),
        ("pos", {"points": "a"}, "pos.points: expected a list or null, found the text 'a'"),
        ("pos", {"test": {"de": "x.jsonl"}}, "x.jsonl: no such file"),
        ("pos", {"test": {"de": "pos.test.jsonl"}}, "the encoder has no language 'de' (it has en, fr)"),
        ("pos", {"test": {}}, "out.plan: pos.test: expected at least 1 items"),
        ("pos", {"task": "posing"}, "pos.task: expected one of xnli, ner, parsing, pos, found 'posing'"),
        ("pos", {"speed": 1}, "pos.speed: unknown key"),
        ("pos", {"settings": {"epochs": 1}}, "out.plan: pos.settings.examples_per_epoch: missing key"),
        ("parsing", {"settings": section("parsing") | {"biaffine": {"ark": 1}}}, "parsing.settings.biaffine.arc: miss"),
        ("parsing", {"settings": section("pos")}, "parsing.settings.biaffine: missing key, which parsing needs"),
        ("ner", {"train": "bad.jsonl"}, "bad.jsonl, line 2: tags: 'B-FOO'"),
        ("ner", {"dev": "bad.jsonl"}, "bad.jsonl, line 2: tags: 'B-FOO'"),
        ("ner", {"test": {"fr": "bad.jsonl"}}, "bad.jsonl, line 2: tags: 'B-FOO'"),
        ("pos", "{", "out.plan, line 1: not JSON"),
        ("pos", [], "out.plan: (top level): expected keys and values"),
        ("pos", {}, "out.plan: no entry at all"),
        ("pos", {"a": 1}, "out.plan: a: expected keys and values"),
    ],
)
def test_a_wrong_plan_or_file_ends_a_job_before_it_trains(
    task: str, changes: Any, problem: str, toy_model: Model, tmp_path: Path,
    refused: Callable[..., None], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text(BAD)
    is_entry = isinstance(changes, dict) and changes and "a" not in changes
    arguments = command(Path(), task, toy_model, "out", **(changes if is_entry else {}))
    if not is_entry:
        Path("out.plan").write_text(changes) if isinstance(changes, str) else write_json(Path("out.plan"), changes)
    refused(run.main, *arguments, problem=problem, out=Path("out"))
    assert not list(Path().glob("out.work/*/*/point*"))
