"""Shared by all tests: where the repository and the real data are."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
REAL_DATA = Path(os.environ.get("XLING_DATA", REPOSITORY.parent / "shared" / "data"))


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
    if os.environ.get("XLING_REQUIRE_DATA") and report.skipped and item.get_closest_marker("real_data"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} needs the real data and was skipped: {report.longrepr}"
    return report
