"""One real cluster for all tests of this folder, and one undisturbed study on it."""

import os
import signal
from pathlib import Path

import pytest
from cluster import Cluster, ClusterError, end_processes_in
from workplace import Workplace

QUICK = {"updates": 6, "warmup": 1, "validate_every": 3, "validation_tokens": 200}


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Return a running cluster, which is gone after the tests."""
    made = Cluster()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that fixtures are taken down
    try:
        made.start()
    except ClusterError as error:
        if os.environ.get("XLING_REQUIRE_SLURM"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    yield made
    made.stop()
    end_processes_in(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def study(cluster, tmp_path_factory):
    """Return a place where a small study ran on the cluster from nothing to its table, training over two nodes."""
    folder: Path = tmp_path_factory.mktemp("study")
    place = Workplace(folder / "place", QUICK, folder / "data", gpu_long={"gpu": 2, "nodes": 2})
    place.finish(place.start("table1"), seconds=900)
    return place
