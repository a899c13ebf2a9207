"""What the tests of fine-tuning share: tiny encoders of each kind, and commands run as from the command line."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from toy_tasks import write_model

from xling.core.errors import run

torch.set_num_threads(1)


class Outcome(NamedTuple):
    code: int
    error: str


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Return a function that runs a command's main as the command line would."""

    def call_main(main: Callable[[], None], arguments: list[str]) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["command", *map(str, arguments)])
        capfd.readouterr()
        try:
            run(main)
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Outcome(code, "".join(f"{x}\n" for x in capfd.readouterr().err.splitlines() if x.startswith("error")))

    return call_main


@pytest.fixture(scope="session")
def toy_model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return vocabulary and encoder of a model that shares everything."""
    return write_model(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="session")
def separate_model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return vocabulary and encoder of Sep Emb + L1."""
    return write_model(tmp_path_factory.mktemp("separate"), embeddings=True, layers=1)
