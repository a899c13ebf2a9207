"""Shared by all tests: where the repository and the real data are."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from xling.core.errors import run

REPOSITORY = Path(__file__).resolve().parent.parent
REAL_DATA = Path(os.environ.get("XLING_DATA", REPOSITORY.parent / "shared" / "data"))


class Outcome(NamedTuple):
    """How a command ended, and its lines that begin with error."""

    code: int
    error: str


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Return a function that runs a command's main as the command line would, without a new interpreter."""

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


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the root of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of real data, or skip the test and say why."""
    if not REAL_DATA.is_dir():
        pytest.skip(f"real data absent: {REAL_DATA} (set XLING_DATA)")
    return REAL_DATA


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    """Where the real data must be used (XLING_REQUIRE_DATA), a skipped test that needs it has failed."""
    report = yield
    if os.environ.get("XLING_REQUIRE_DATA") and report.skipped and "real_data" in getattr(item, "fixturenames", ()):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} needs the real data and was skipped: {report.longrepr}"
    return report
