"""Inputs of another configuration are refused in one line, whatever Snakemake thinks of their times."""

import json
from pathlib import Path
from typing import Any

import pytest
from dag import run_module
from embedded import study

from workflow_scripts.alignment import Alignment
from workflow_scripts.expect import check
from workflow_scripts.flags import expected_run
from workflow_scripts.identity import hashed
from workflow_scripts.study import Study
from workflow_scripts.transfer import Transfer
from xling.core.errors import InputError

FLOOR = "en-fr.untrained-joint.s1"


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def asked(flag: str) -> tuple[str, list[str]]:
    kind, file = flag.split(" ")
    return kind.removeprefix("--"), [file]


def problem(asked: str, files: list[str]) -> str:
    """Return what is said of files, nothing where they are taken."""
    try:
        check(asked, files)
    except InputError as error:
        return str(error)
    return ""


@pytest.fixture(name="transfer")
def fixture_transfer() -> Transfer:
    return Transfer(Study(study(), {}))


@pytest.mark.parametrize("name", ["en-fr.default.s1", FLOOR])
def test_what_the_study_describes_is_taken(transfer: Transfer, tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "run.json", transfer.run(name))
    assert problem(*asked(expected_run(path, transfer.run(name), drawn=name == FLOOR))) == ""


@pytest.mark.parametrize("name", ["en-fr.default.s1", FLOOR])
def test_a_rate_of_training_is_no_business_of_an_encoder_that_is_drawn(
    transfer: Transfer, tmp_path: Path, name: str
) -> None:
    described, drawn = transfer.run(name), name == FLOOR
    slower = written(tmp_path / "slower.json", described | {"pretrain": described["pretrain"] | {"lr": 1e-9}})
    other = written(tmp_path / "other.json", described | {"seed": 9})
    assert (problem(*asked(expected_run(slower, described, drawn))) == "") == drawn
    assert "of another configuration" in problem(*asked(expected_run(other, described, drawn)))


def test_every_encoder_of_a_study_is_asked_for(transfer: Transfer) -> None:
    for name in transfer.encoders:
        assert transfer.expected(name).count("/run.json=") == 1
    alignment = Alignment(transfer.study)
    for analysis in alignment.analyses:
        assert alignment.expected_states(analysis).count("--made ") == len(alignment.compared(analysis))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"config": "0123"}, "of another configuration: 0123, not 4567"),
        ({"config": ""}, "of another configuration: none, not 4567"),
        ({"sets": {}}, "says nothing of the configuration"),
        ([], "says nothing of the configuration"),
    ],
)
def test_states_of_another_configuration_are_told_in_a_line(tmp_path: Path, content: Any, problem: str) -> None:
    path = written(tmp_path / "states=1.json", content)
    done = run_module("workflow_scripts.expect", "--made", f"{path}=4567")
    assert done.returncode == 2
    assert f"{path}: {problem}" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    written(path, {"config": "4567"})
    assert run_module("workflow_scripts.expect", "--made", f"{path}=4567").returncode == 0


def test_a_runs_hash_does_not_depend_on_how_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{\n "b": 1.0,\n "a": [1e-3]\n}\n', encoding="utf-8")
    assert problem("run", [f"{path}={hashed({'a': [0.001], 'b': 1.0})}"]) == ""
