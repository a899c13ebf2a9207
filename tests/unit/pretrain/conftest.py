"""Toy languages and tiny models on which every promise of the training engine can be checked in seconds."""

import json
import multiprocessing
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from toy_runs import WATCHED, Child, child, make_vocab, write_streams


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the streams and vocabulary of two toy languages, three lines of English to one of French."""
    folder = tmp_path_factory.mktemp("toy")
    write_streams(folder / "en", "en", 1, 900)
    write_streams(folder / "fr", "fr", 2, 300)
    make_vocab(folder / "vocab")
    return folder


@pytest.fixture(autouse=True)
def _watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let trainings of this process be looked into, as `Child` does."""
    for owner, name, other in WATCHED:
        monkeypatch.setattr(owner, name, other)


@pytest.fixture
def command(toy: Path, tmp_path: Path) -> Callable[..., list[str]]:
    """Return a maker of command lines: the run's JSON, the work directory's name, further flags."""

    def make(run: dict[str, Any], work: str = "work", *flags: str) -> list[str]:
        path = tmp_path / f"{work}.run.json"
        path.write_text(json.dumps(run))
        streams = [flag for code in run["languages"] for flag in ("--streams", f"{code}={toy / code}")]
        places = {
            "--run": path,
            "--vocab": toy / "vocab",
            "--work-below": tmp_path / work,
            "--out": f"{tmp_path / work}.out",
        }
        given = [str(word) for flag in places.items() for word in flag]
        return [*given, *streams, "--device", "cpu", *flags]

    return make


@pytest.fixture(scope="session")
def context() -> Any:
    """Return a process maker that has imported torch once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["xling.pretrain.run"])
    return context


@pytest.fixture
def launch(context: Any, tmp_path: Path) -> Callable[..., Child]:
    """Return a starter of the training command in a new process."""
    numbers = count()

    def start(arguments: list[str], die_at: int | None = None, watched: bool = True, **environment: str) -> Child:
        log, environment = tmp_path / f"child-{next(numbers)}.log", {"OMP_NUM_THREADS": "1"} | environment
        made = Child(context.Process(target=child, args=(arguments, environment, die_at, str(log), watched)), log)
        made.process.start()
        return made

    return start
