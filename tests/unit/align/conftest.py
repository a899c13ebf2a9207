"""What the tests of alignment share: commands run as from the command line, without a new interpreter each time."""

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from xling.core.errors import run


class Outcome(NamedTuple):
    code: int
    error: str


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Return a function that runs a command's main as the command line would."""

    def call_main(main: Callable[[], None], *arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["command", *map(str, arguments)])
        capfd.readouterr()
        try:
            run(main)
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Outcome(code, "".join(f"{x}\n" for x in capfd.readouterr().err.splitlines() if x.startswith("error")))

    return call_main
