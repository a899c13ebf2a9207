"""The console script: a thin way to the commands."""

import sys
import tomllib
from contextlib import suppress
from importlib import import_module

import pytest

from xling.cli import COMMANDS, main


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("", 0, "xling export MODEL"),
        ("help", 0, "xling compare MODEL_A MODEL_B"),
        *((f"{command} --help", 0, f"usage: xling {command} ") for command in COMMANDS),
        ("fly", 2, "error: unknown command 'fly': expected export, compare\n"),
        ("export . --vocab v --out o", 2, "error: .: no model.json in it (expected the folder of a model trained by"),
    ],
)
def test_help_is_shown_and_bad_commands_are_one_line(repository, tmp_path, monkeypatch, capsys, arguments, code, said):
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    module, function = project["scripts"]["xling"].split(":")
    assert getattr(import_module(module), function) is main
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["xling", *arguments.split()])
    with suppress(SystemExit) if code == 0 else pytest.raises(SystemExit, match=f"^{code}$"):
        main()
    told = capsys.readouterr()
    assert told.err.count("\n") == int(code > 0)
    assert said in told.out + told.err
