"""What goes wrong on clusters, done on purpose: every run ends with the weights of an undisturbed one."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cluster import queue, works
from dag import fill
from workplace import MODEL, Workplace, end

from xling.core.io import read_json

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(1500)]

LIMIT_MINUTES = 2
UPDATES = 600
# No more at once: where starting a job takes all of LIMIT_MINUTES, training never ends. Niceness is no help, since a
# kernel that groups processes by session weighs it within a session alone, and every job of SLURM has its own.
AT_ONCE = max(2, os.cpu_count() or 2)
PATIENCE = 900.0
DISK_MEGABYTES = 32


class Desk:
    """Makes places for faults, and knows what an undisturbed training gives."""

    def __init__(self, study, folder):
        self.study, self.folder = study, folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.mounts: list[Path] = []
        self.undisturbed = self.place("undisturbed")
        self.undisturbed.finish(self.started(self.undisturbed.start_here(self.undisturbed.model)), PATIENCE)

    def place(self, name, disk=0, **classes):
        """Return a place that is to train a model, saving it often; its results may be on a disk of some megabytes."""
        often = {"updates": UPDATES, "warmup": 10, "validate_every": 200, "validation_tokens": 500, "save_every": 50}
        place = Workplace(self.folder / name, often, self.study.data, **classes)
        if disk:
            place.results.mkdir()
            self.mounts.append(place.results)
            assert works("mount", "-t", "tmpfs", "-o", f"size={disk}m", "tmpfs", str(place.results))
        place.take_inputs(self.study)
        return place

    def started(self, process):
        """Remember a process, to end it with the tests."""
        self.processes.append(process)
        return process

    def train(self, place):
        """Start training on the cluster."""
        return self.started(place.start(place.model))

    def clear(self):
        """End what still runs and give disks back."""
        for process in self.processes:
            end(process)
        for mount in self.mounts:
            works("umount", "--lazy", str(mount))


def training(place):
    """Return the process that trains here."""
    (lock,) = place.study.glob(f"work/{MODEL}-*/lock.json")
    return int(read_json(lock)["pid"])


def attempts(place):
    """Return what the finished run says of its attempts."""
    return list(read_json(place.model.parent / "provenance.json")["attempts"])


def submitted(place):
    """Return the logs of all training jobs that SLURM started here."""
    return list((place.folder / "logs/slurm/rule_pretrain").rglob("*.log"))


def validations(place):
    """Return what every validation of a run found."""
    lines = [json.loads(line) for line in (place.model.parent / "metrics.jsonl").read_text().splitlines()]
    return [(line["update"], line["loss"]) for line in lines if line["kind"] == "validation"]


def check_same(place, undisturbed):
    """Hold a finished run against the undisturbed one, bit for bit."""
    assert validations(place) == validations(undisturbed)
    digests = [hashlib.sha256(one.model.read_bytes()).hexdigest() for one in (place, undisturbed)]
    assert digests[0] == digests[1]
    assert place.nothing_left(place.model)
    assert not list(place.study.glob(f"work/{MODEL}-*"))


# ---------------------------------------------------------------------- the faults


def time_limit(desk):
    """The allocation is over before the training is, twice."""
    place = desk.place("time_limit", gpu_long={"runtime": LIMIT_MINUTES})
    process = desk.train(place)
    for _ in range(2):
        held = place.wait_for_training(place.update())
        hold_until_deadline(training(place))
        place.wait_until(
            "the job's end", lambda number=held.number: number not in {job.number for job in place.jobs("RUNNING")}
        )
    place.finish(process, PATIENCE)
    made = attempts(place)
    assert len(made) >= 3
    assert [one["outcome"] for one in made] == ["stopped"] * (len(made) - 1) + ["finished"]
    log = (place.model.parent / "train.log").read_text()
    for left in made[:-1]:  # nothing is trained twice
        assert f"step-{left['update']:07d}" in log
    check_same(place, desk.undisturbed)


def hold_until_deadline(process):
    """Let a training wait until little of its allocation is left, so that it does not matter how fast this machine is."""
    os.kill(process, signal.SIGSTOP)
    flags = Path(f"/proc/{process}/cmdline").read_text().split("\0")
    (deadline,) = [float(flag.partition("=")[2]) for flag in flags if flag.startswith("--deadline=")]
    time.sleep(max(0.0, deadline - 5 - time.time()))
    os.kill(process, signal.SIGCONT)


def scancelled(desk):
    """Someone cancels the running job."""
    place = desk.place("scancelled")
    process = desk.train(place)
    job = place.wait_for_training()
    assert works("scancel", job.number)
    place.finish(process, PATIENCE)
    assert len(submitted(place)) == 2
    assert len(attempts(place)) == 2
    check_same(place, desk.undisturbed)


def node_down(desk):
    """The node that trains is set down; SLURM queues the job again, on another."""
    place = desk.place("node_down", gpu_long={"partition": "shaky"})
    process = desk.train(place)
    job = place.wait_for_training()
    assert works("scontrol", "update", f"nodename={job.nodes}", "state=down", "reason=test")
    place.finish(process, PATIENCE)
    assert len(attempts(place)) == 2
    assert len(submitted(place)) == 1
    assert f"on {job.nodes}, " not in (place.study / f"logs/pretrain/{MODEL}.log").read_text()
    check_same(place, desk.undisturbed)


def broken_gpu(desk):
    """The GPUs of the node that the job comes to first do not work; the next attempt avoids it."""
    place = desk.place("broken_gpu")
    broken = place.folder / "broken"  # the prolog of the cluster's tasks writes the first node into it
    place.variables["XLING_TEST_BROKEN"] = str(broken)
    place.finish(desk.train(place), PATIENCE)
    node = broken.read_text().strip()
    assert f"error: {node}: CUDA_VISIBLE_DEVICES=" in place.said()
    assert "but CUDA does not work" in place.said()
    assert [line.split()[1] for line in (place.study / "bad-nodes.txt").read_text().splitlines()] == [node]
    assert len(submitted(place)) == 2
    assert len(attempts(place)) == 1
    check_same(place, desk.undisturbed)


def controller_killed(desk):
    """Snakemake is killed and started again while its orphaned job still trains: the second copy waits for the first."""
    place = desk.place("controller_killed")
    process = desk.train(place)
    orphan = place.wait_for_training()
    held = training(place)
    os.kill(held, signal.SIGSTOP)  # so that the second copy finds it, however short the training is
    process.kill()
    process.wait()
    command = [sys.executable, "-m", "snakemake", "--unlock", "--configfile", "preset.yaml"]
    subprocess.run(command, cwd=place.folder, capture_output=True, timeout=120, check=True)
    again = desk.train(place)

    def second_waits():
        os.kill(held, signal.SIGCONT)  # a moment to renew its lock: it is not dead
        time.sleep(0.2)
        os.kill(held, signal.SIGSTOP)
        time.sleep(2)
        return f"SLURM job {orphan.number}; waiting for it" in (place.study / f"logs/pretrain/{MODEL}.log").read_text()

    place.wait_until("the second copy", second_waits)
    assert len(place.jobs("RUNNING")) == 2
    os.kill(held, signal.SIGCONT)
    place.finish(again, PATIENCE)
    assert len(attempts(place)) == 1
    check_same(place, desk.undisturbed)


def over_memory(desk):
    """The job needs more memory than it asked for; the next attempt asks for twice as much."""
    place = desk.place("over_memory", gpu_long={"mem_mb": 300})
    place.finish(desk.train(place), PATIENCE)
    assert len(submitted(place)) == 2
    assert any("exceeded memory limit" in log.read_text() for log in submitted(place))
    check_same(place, desk.undisturbed)


def disk_full(desk):
    """The disk of the results fills up during training, and somebody makes room."""
    place = desk.place("disk_full", disk=DISK_MEGABYTES)
    process = desk.train(place)
    place.wait_for_training()
    ballast = place.results / "ballast"
    fill(ballast)
    place.wait_until("the failure", lambda: "Error in rule pretrain" in place.said())
    ballast.unlink()
    place.finish(process, PATIENCE)
    assert "no space left on the disk" in place.said()
    assert len(submitted(place)) >= 2
    check_same(place, desk.undisturbed)


FAULTS: list[Callable[[Desk], None]] = [  # the longest first
    time_limit,
    node_down,
    controller_killed,
    scancelled,
    broken_gpu,
    over_memory,
    disk_full,
]


@pytest.fixture(scope="module")
def results(study, tmp_path_factory, request):
    """Start the faults that are asked for, some at once, and return what becomes of them."""
    asked = {getattr(item, "callspec", None) and item.callspec.params.get("fault") for item in request.session.items}
    desk = Desk(study, tmp_path_factory.mktemp("faults"))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            yield {fault.__name__: pool.submit(timed, fault, desk) for fault in FAULTS if fault in asked}
        finally:
            desk.clear()


def timed(fault, desk):
    """Let a fault happen, and say how long it took."""
    began = time.monotonic()
    try:
        fault(desk)
    finally:
        print(f"{fault.__name__}: {time.monotonic() - began:.0f} s, jobs now: {queue()}")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_changes_no_result(results, fault):
    failure = results[fault.__name__].exception(timeout=PATIENCE + 300)
    assert failure is None, "".join(traceback.format_exception(failure))
