"""A controller that is away for a while, or forgets finished jobs too soon: no job is lost, and no retry is used up."""

import os
import signal
import subprocess
import sys
import time

import pytest
from cluster import works
from embedded import ROOT
from workplace import MODEL

from xling.core.io import read_json

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(600)]

AWAY_SECONDS = 40
AUDIT = "anchors.json"


@pytest.fixture
def place(study):
    """Return a function that makes a place whose model is to be trained and audited, in a job each."""

    def make(name):
        made = study.beside(name, gpu_long={"gpu": 1, "nodes": 1})
        made.take_inputs(study)
        made.variables["XLING_SUBMIT_PAUSE"] = "5"
        return made

    return make


def begin(place):
    """Start both jobs of a place."""
    return place.start(place.model, place.model.parent / AUDIT)


def logs(place, rule):
    """Return how many jobs of a rule SLURM has started here."""
    return len(list((place.folder / f"logs/slurm/rule_{rule}" / MODEL).glob("*.log")))


def test_a_controller_that_is_away_costs_no_retry(cluster, place):
    running, submitting = place("running"), place("submitting")
    first = begin(running)
    running.wait_until("a job", lambda: running.jobs("RUNNING"))
    cluster.stop_controller()
    left = time.monotonic()
    second = begin(submitting)
    try:
        waiting = submitting.folder / "logs/slurm/waiting.log"
        submitting.wait_until("a submission that waits", waiting.is_file)
        time.sleep(max(0.0, left + AWAY_SECONDS - time.monotonic()))
    finally:
        cluster.start_controller()
    for one, process in ((running, first), (submitting, second)):
        one.finish(process, 300)
        assert "Trying to restart" not in one.said()
        assert [logs(one, rule) for rule in ("pretrain", "audit_anchors")] == [1, 1]
        assert one.nothing_left(one.model)
    assert "Unable to contact slurm controller" in waiting.read_text()


def test_jobs_that_slurm_forgets_at_once_are_known_by_their_files(cluster, place):
    forgotten = place("forgotten")
    with cluster.remembering(2):
        check = [sys.executable, "-m", "workflow_scripts.slurm_check"]
        told = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False).stdout
        assert [line for line in told.splitlines() if "(MinJobAge)" in line] == [
            "known  finished jobs are remembered for 2 s (MinJobAge), less than 180 s: whether a job that ends unseen has "
            "succeeded is told by its files"
        ]
        process = begin(forgotten)
        try:
            forgotten.wait_until("both jobs", lambda: logs(forgotten, "pretrain") and logs(forgotten, "audit_anchors"))
            process.send_signal(signal.SIGSTOP)  # it does not look until SLURM has forgotten both
            (audit,) = (forgotten.folder / "logs/slurm/rule_audit_anchors" / MODEL).glob("*.log")
            works("scancel", audit.stem)
            forgotten.wait_until("that SLURM forgets both", lambda: not forgotten.jobs())
        finally:
            os.kill(process.pid, signal.SIGCONT)
        forgotten.finish(process, 300)
    assert [logs(forgotten, rule) for rule in ("pretrain", "audit_anchors")] == [1, 2]
    assert read_json(forgotten.model.parent / AUDIT)
