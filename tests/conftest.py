"""Shared by all tests: where the repository and the real data are, commands run in this process, small disks."""

import logging
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from xling.core.errors import run

# Before torch is imported, and for every process that a test starts: tiny models are slower in several threads, and on
# ARM ten times as slow in oneDNN's matrix products, which spend their time on looking up how to multiply.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TORCH_MKLDNN_MATMUL_MIN_DIM", "100000")
settings.register_profile(  # the same examples in every run, however busy the machine is
    "xling", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("xling")

REPOSITORY = Path(__file__).resolve().parent.parent
REAL_DATA = Path(os.environ.get("XLING_DATA", REPOSITORY.parent / "shared" / "data"))


class Outcome(NamedTuple):
    """How a command ended, its lines that begin with error, and all that it said on standard error."""

    code: int
    error: str
    said: str


@pytest.fixture(autouse=True)
def _same_matrix_products():
    """Switch oneDNN on again: on a CPU without bfloat16 torch switches it off for good at the first such product.

    Tests that run later in the process would then compare its results with those of a process that still has it.
    """
    yield
    if torch := sys.modules.get("torch"):
        torch.backends.mkldnn.set_flags(True)


@pytest.fixture
def call(monkeypatch, capfd):
    """Return a function that runs a command's main as the command line would, without a new interpreter."""

    def call_main(main, *arguments):
        monkeypatch.setattr(sys, "argv", ["command", *map(str, arguments)])
        capfd.readouterr()
        try:
            with _process_as_it_was():
                run(main)
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        said = capfd.readouterr().err
        return Outcome(code, "".join(f"{x}\n" for x in said.splitlines() if x.startswith("error")), said)

    return call_main


@pytest.fixture
def refused(call):
    """Return a function that runs a command, checks that it fails in one line and writes nothing, and returns the line."""

    def check(main, *arguments, out):
        found = call(main, *arguments)
        assert (found.code, found.error.count("\n")) == (2, 1), found.error
        assert not out.exists()
        return found.error

    return check


@contextmanager
def _process_as_it_was():
    """Undo what a command leaves behind that ends with its process: its handlers of SIGTERM and of the log."""
    log, on_sigterm = logging.getLogger("xling"), signal.getsignal(signal.SIGTERM)
    handlers, level, propagate = log.handlers[:], log.level, log.propagate
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, on_sigterm)
        for handler in [handler for handler in log.handlers if handler not in handlers]:
            log.removeHandler(handler)
            handler.close()
        log.setLevel(level)
        log.propagate = propagate


@pytest.fixture
def mount_disk(tmp_path):
    """Return a function that mounts a disk of a size, or skips the test and says why."""
    mounted: list[Path] = []

    def mount(size):
        if os.geteuid() != 0:
            pytest.skip("no small disk: mounting a tmpfs needs root")
        disk = tmp_path / "disk"
        disk.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no small disk: {done.stderr.strip()}")
        mounted.append(disk)
        return disk

    yield mount
    for disk in mounted:  # lazily: a file may still be open for a moment
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.fixture(scope="session")
def repository():
    """Return the root of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def real_data():
    """Return the folder of real data, or skip the test and say why."""
    if not REAL_DATA.is_dir():
        pytest.skip(f"real data absent: {REAL_DATA} (set XLING_DATA)")
    return REAL_DATA


def pytest_collection_modifyitems(items):
    """Measure coverage in tests of the package alone: it makes Snakemake and reading real files three times as slow."""
    package = REPOSITORY / "tests" / "unit"
    for item in items:
        inside = item.path.is_relative_to(package) and not item.path.is_relative_to(package / "workflow_scripts")
        if not inside or "real_data" in getattr(item, "fixturenames", ()):
            item.add_marker("no_cover")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where the real data must be used (XLING_REQUIRE_DATA), a skipped test that needs it has failed."""
    report = yield
    if os.environ.get("XLING_REQUIRE_DATA") and report.skipped and "real_data" in getattr(item, "fixturenames", ()):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} needs the real data and was skipped: {report.longrepr}"
    return report
