"""The console script: a thin way to the commands."""

import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from xling.cli import COMMANDS, dispatch, main
from xling.core.errors import XlingError


def test_the_console_script_is_this_module(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    module, function = project["scripts"]["xling"].split(":")
    assert getattr(import_module(module), function) is main
    assert any(name.startswith("transformers") for name in project["optional-dependencies"]["hf"])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        dispatch([command, "--help"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: xling {command} ")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["help"]])
def test_help_names_every_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    dispatch(arguments)
    told = capsys.readouterr().out
    assert all(f"xling {command} MODEL" in told for command in COMMANDS)


def test_bad_commands_are_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(XlingError, match="unknown command 'fly': expected export, compare"):
        dispatch(["fly"])
    monkeypatch.setattr(sys, "argv", ["xling", "export", str(tmp_path), "--vocab", "v", "--out", str(tmp_path / "o")])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert (
        capsys.readouterr().err
        == f"error: {tmp_path}: no model.json in it (expected the folder of a model trained by xling)\n"
    )
