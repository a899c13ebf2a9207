"""Toy languages and tiny models on which every promise of the training engine can be checked in seconds."""

import json
from functools import partial
from itertools import count

import pytest
from toy_runs import WATCHED, Child, make_vocab, watch, write_streams


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """Return a folder with the streams and vocabulary of two toy languages, three lines of English to one of French."""
    folder = tmp_path_factory.mktemp("toy")
    write_streams(folder / "en", "en", 1, 900)
    write_streams(folder / "fr", "fr", 2, 300)
    make_vocab(folder / "vocab")
    return folder


@pytest.fixture(autouse=True)
def _watched(monkeypatch):
    """Let trainings of this process be looked into, as `Child` does."""
    for owner, name, other in WATCHED:
        monkeypatch.setattr(owner, name, other)


@pytest.fixture
def command(toy, tmp_path):
    """Return a maker of command lines: the run's JSON, the work directory's name, further flags."""

    def make(run, work="work", *flags):
        path = tmp_path / f"{work}.run.json"
        path.write_text(json.dumps(run))
        streams = [flag for code in run["languages"] for flag in ("--streams", f"{code}={toy / code}")]
        given = ["--run", path, "--vocab", toy / "vocab", "--work-root", tmp_path / work, "--device", "cpu"]
        return [str(word) for word in (*given, "--out", f"{tmp_path / work}.out", *streams, *flags)]

    return make


@pytest.fixture
def launch(tmp_path):
    """Return a starter of the training command in a new process."""
    numbers = count()

    def start(arguments, die_at=None, watched=True, **environment):
        log, prepare = tmp_path / f"child-{next(numbers)}.log", partial(watch, die_at, watched)
        return Child("xling.pretrain.run", arguments, log, prepare, OMP_NUM_THREADS="1", **environment)

    return start
