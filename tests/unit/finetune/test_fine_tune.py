"""Fine-tuning: schedules, the best epoch, trainings in turn; whole plans, killed, restarted and refused."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from toy_tasks import KINDS, command, prepare, run_killed, section

from xling.core.io import read_json
from xling.core.tasks import TASKS
from xling.finetune import fine_tune, trainer
from xling.finetune.settings import Point, read_settings
from xling.finetune.trainer import in_turn, lanes, rate_scale, train, train_epoch, tune_point
from xling.finetune.tuner import Tuner
from xling.model import device

POINT = Point(0, 8, 1e-2, 1e-2)


def test_the_weights_of_the_best_epoch_are_kept(toy_model, tmp_path, monkeypatch):
    scores = iter([2.0, 3.0, 3.0])
    monkeypatch.setattr(trainer, "score", lambda *_: {"accuracy": next(scores)})
    tuner, other = (Tuner(*prepare(tmp_path, toy_model)[:2], POINT) for _ in range(2))
    list(train(tuner, tmp_path / "states"))
    for epoch in (0, 1):
        list(train_epoch(other, epoch))
    assert all(torch.equal(weight, other.weights()[name]) for name, weight in tuner.weights().items())


POINTS = [Point(number, batch, rate, rate) for number, (batch, rate) in enumerate([(8, 1e-3), (4, 1e-2), (8, 1e-2)])]


def test_works_advance_in_turn_and_end_in_their_order():
    seen: list[str] = []

    def work(name, steps):
        for number in range(steps):
            seen.append(f"{name}{number}")
            yield
        return name

    assert in_turn([work(*one) for one in (("a", 1), ("b", 3), ("c", 0), ("d", 1))], [None, None]) == list("abcd")
    assert seen == ["a0", "b0", "b1", "b2", "d0"]
    assert in_turn([], [None]) == []


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("task", ["pos", "parsing"])
def test_trainings_on_streams_of_a_gpu_are_those_of_one_after_the_other(task, toy_model, tmp_path, monkeypatch):
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


def test_learning_rates_follow_the_schedule():
    linear, fixed = (read_settings(section("ner", schedule=name, warmup_share=0.1)) for name in ("linear", "fixed"))
    scales = [rate_scale(step, 100, linear) for step in range(100)]
    assert scales[:10] == pytest.approx([0.1 * (i + 1) for i in range(10)])
    assert scales[10:] == pytest.approx([(100 - step) / 90 for step in range(10, 100)])
    assert max(scales) == 1.0
    assert {rate_scale(step, 100, fixed) for step in range(100)} == {1.0}


@pytest.fixture(scope="module")
def whole(toy_model, tmp_path_factory):
    """Return a folder with the toy data of parsing and tagging, and the results of a plan that was never interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["run", *command(folder, "parsing pos", toy_model, "whole")])
        fine_tune.main()
    return folder


@pytest.mark.parametrize(("task", "epochs"), [("xnli", 1), ("ner", 7), ("parsing", 5), ("pos", 4)])
def test_a_job_learns_its_task_and_is_scored(task, epochs, toy_model, tmp_path, call):
    rates, best = ([1e-4, 3e-3, 1e-2], 2) if task == "pos" else ([1e-2], 1)
    grid = {"batch": [8], "encoder_lr": rates, "head_lr": None}
    settings = section(task, epochs=epochs, examples_per_epoch=40 if task == "xnli" else None, grid=grid, best=best)
    tests = {code: str(tmp_path / f"{task}.{name}.jsonl") for code, name in (("en", "dev"), ("fr", "test"))}
    flags = command(tmp_path, task, toy_model, "out", 150, settings=settings, test=tests)
    assert call(fine_tune.main, *flags).code == 0
    result, score = (read_json(tmp_path / f"out/{folder}{task}.json") for folder in ("jobs/", ""))
    assert [(point["number"], point["encoder_lr"]) for point in result["points"]] == list(enumerate(rates))
    for point in result["points"]:
        assert len(point["dev"]) == epochs
        assert point["dev_score"] == max(point["dev"]) == point["dev"][point["best_epoch"] - 1]
        assert next(iter(point["test"]["en"]["measures"].values())) == pytest.approx(point["dev_score"])  # its weights
        assert {len(column.split()) for column in point["test"]["fr"]["items"].values()} == {24}
    if task != "xnli":
        assert point["dev_score"] > 60
        assert point["losses"][-1] < point["losses"][0]
    selected = sorted(result["points"], key=lambda point: -point["dev_score"])[:best]
    assert score["selected"] == [point["number"] for point in selected]
    assert task != "pos" or 0 not in score["selected"]  # whose rate is too low to learn anything
    french = score["languages"]["fr"]
    means = [next(iter(point["test"]["fr"]["measures"].values())) for point in selected]
    assert french["score"] == pytest.approx(np.mean(means))
    assert french["interval"][0] <= french["score"] <= french["interval"][1]
    assert "items" not in json.dumps(score["points"])
    assert not list((tmp_path / "out.work").iterdir())  # nothing is left to resume from


def same_files(one, other):
    names = sorted(path.relative_to(one) for path in one.rglob("*.json"))
    return len(names) == 4 and all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def test_side_by_side_has_the_same_scores_as_one_after_the_other(toy_model, whole, call):
    flags = [*command(whole, "parsing pos", toy_model, "beside"), "--side-by-side", 3]
    assert call(fine_tune.main, *flags).code == 0
    assert same_files(whole / "whole", whole / "beside")


def test_a_killed_process_goes_on_to_the_same_scores(toy_model, whole, tmp_path):
    broken = command(whole, "parsing pos", toy_model, "broken")
    deaths = (3, 3)  # in the second point of the first task, in the first of the second task
    log = run_killed(broken, deaths, whole / "broken", tmp_path / "log", "xling.finetune.fine_tune")
    assert "parsing point 1 epoch" not in log  # the first task was done by then
    assert "pos point 0 epoch 2 of" not in log
    assert "pos point 0 epoch 3 of" in log
    assert same_files(whole / "whole", whole / "broken")


def test_a_job_goes_on_in_no_other_precision_than_it_began_in(toy_model, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["run", *command(tmp_path, "pos", toy_model, "out")])
    args, folders = fine_tune.parse_args(), set()
    for kind, half in KINDS:
        monkeypatch.setattr(device, "half_type", lambda half=half: half)
        folders.add(fine_tune.work_folder(args, fine_tune.read_plan(args.plan), "toy", torch.device(kind)))
    assert len(folders) == len(KINDS)


def test_untrained_encoders_need_run_json_alone(toy_model, tmp_path, call, refused):
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
        ("pos", {"task": "posing"}, f"pos.task: expected one of {', '.join(TASKS)}, found 'posing'"),
        ("pos", {"settings": {"epochs": 1}}, "out.plan: pos.settings.examples_per_epoch: missing key"),
        ("parsing", {"settings": section("pos")}, "parsing.settings.biaffine: missing key, which parsing needs"),
        ("ner", {"test": {"fr": "bad.jsonl"}}, "bad.jsonl, line 2: tags: 'B-FOO'"),
    ],
)
def test_a_wrong_plan_or_file_ends_a_job_before_it_trains(
    task, changes, problem, toy_model, tmp_path, refused, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text(BAD)
    arguments = command(Path(), task, toy_model, "out", **changes)
    assert problem in refused(fine_tune.main, *arguments, out=Path("out"))
    assert not list(Path().glob("out.work/*/*/point*"))
    Path("out.plan").write_text("{}")
    assert "out.plan: no entry at all" in refused(fine_tune.main, *arguments, out=Path("out"))
