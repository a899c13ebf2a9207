"""Several tasks in one process: the same scores as one by one, also when it is killed on the way."""

import multiprocessing
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from toy_tasks import command, job_process, together_command

from xling.core.io import read_json
from xling.finetune import collect, run, together
from xling.finetune.metrics import MEASURES
from xling.finetune.settings import BiaffineSizes
from xling.finetune.tasks import NAMES, make_task

TASKS = ("ner", "pos")


def test_tasks_together_equal_tasks_one_by_one(
    toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    assert call_with(together.main, together_command(tmp_path, TASKS, toy_model, "all")).code == 0
    for task in TASKS:
        assert call_with(run.main, command(tmp_path, task, toy_model, task)).code == 0
        places = ["--results", tmp_path / f"{task}.json", "--out", tmp_path / "score.json"]
        assert call_with(collect.main, places).code == 0
        assert read_json(tmp_path / f"all/jobs/{task}.json") == read_json(tmp_path / f"{task}.json")
        assert read_json(tmp_path / f"all/{task}.json") == read_json(tmp_path / "score.json")
    assert not list((tmp_path / "all.work").iterdir())  # nothing is left to resume from


def test_a_killed_process_goes_on_to_the_same_scores(
    toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["xling.finetune.together"])
    assert call_with(together.main, together_command(tmp_path, TASKS, toy_model, "whole")).code == 0
    broken, codes = together_command(tmp_path, TASKS, toy_model, "broken"), []
    for die_after in (4, 4, None):  # in the second point of the first task, in the second task, not at all
        child = context.Process(
            target=job_process, args=(broken, die_after, str(tmp_path / "log"), "xling.finetune.together")
        )
        child.start()
        child.join(120)
        codes.append(child.exitcode)
        assert (tmp_path / "broken").exists() == (die_after is None)  # all results appear at the end
    assert codes == [-signal.SIGKILL, -signal.SIGKILL, 0]
    assert "ner point 1 epoch" not in (tmp_path / "log").read_text()  # the first task was done by then
    for name in ("jobs/ner", "jobs/pos", "ner", "pos"):
        assert read_json(tmp_path / f"broken/{name}.json") == read_json(tmp_path / f"whole/{name}.json")


def test_a_job_may_choose_its_own_directory_and_takes_it_away(
    toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    for name, points in (("both", "all"), ("again", "0,1")):
        flags = command(tmp_path, "pos", toy_model, name, points=points)
        flags[flags.index("--work")] = "--work-below"
        assert call_with(run.main, flags).code == 0
        assert not list((tmp_path / f"{name}.work").iterdir())
    assert read_json(tmp_path / "both.json") == read_json(tmp_path / "again.json")


@pytest.mark.parametrize(
    ("jobs", "problem"),
    [
        (["{"], "--jobs: not JSON"),
        (['{"task": "ner"}'], "expected an object with config, dev, settings, task, test, train"),
        (["twice"], "the task pos is given twice"),
    ],
)
def test_wrong_jobs_are_told_in_one_line(
    jobs: list[str], problem: str, toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    flags = together_command(tmp_path, ("pos",), toy_model, "job")
    given = [flags[-1]] * 2 if jobs == ["twice"] else jobs
    found = call_with(together.main, [*flags[:-1], *given])
    assert found.code == 2
    assert found.error.count("\n") == 1
    assert problem in found.error
    assert not (tmp_path / "job").exists()


def test_scores_are_collected_by_the_measures_of_the_tasks() -> None:
    tasks = {name: make_task(name, BiaffineSizes(8, 4, 0.0, 0.0)) for name in NAMES}
    assert {name: dict(task.measures) for name, task in tasks.items()} == {k: dict(v) for k, v in MEASURES.items()}
