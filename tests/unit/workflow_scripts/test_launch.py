"""How a trainer is started in what a job was given."""

import sys
from datetime import datetime

import pytest

from workflow_scripts import launch
from workflow_scripts.launch import Allocation, allocation, ask, command
from xling.core.errors import XlingError

MODULE = ["xling.pretrain.run", "--run-json", "a b.json"]
ALONE = [sys.executable, "-m", *MODULE]


def answers(*lines):
    """Return a SLURM that gives these answers, one after the other."""
    left = list(lines)
    return lambda _: left.pop(0)


@pytest.mark.parametrize(
    ("said", "deadline"),
    [
        ("1000000|1086400|n1", 1086400 - 120),  # of a day
        ("1000000|1000060|n1", 1000060 - 5),  # of a minute
        ("2026-11-15T05:30:11|2026-11-15T05:31:11|n1", datetime(2026, 11, 15, 5, 31, 6).timestamp()),
        ("1000000|N/A|n1", None),
        ("", None),
        ("slurm_load_jobs error", None),
    ],
)
def test_the_trainer_leaves_before_its_allocation_ends(said, deadline):
    found = allocation({"SLURM_JOB_ID": "7"}, answers(said))
    assert found is not None
    assert (found.job, found.deadline) == (7, deadline)
    assert allocation({}, answers()) is None


def test_one_gpu_needs_no_torchrun_and_several_do():
    assert command(MODULE, 1, 1, None) == command(MODULE, 1, 2, None) == ALONE  # without a cluster there are no nodes
    run = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=4"]
    assert command(MODULE, 4, 1, None) == [sys.executable, *run, "-m", *MODULE]


def test_several_nodes_are_started_by_srun_and_meet_at_the_first():
    first, other = (command(MODULE, 2, 2, Allocation(n, 60.0, "n[1-2]"), answers("n1\nn2")) for n in (6, 7))
    assert first[:2] == ["srun", "--nodes=2"]
    assert {"--master-addr=n1", "--nnodes=2", "--nproc-per-node=2"} <= set(first)
    assert first[-len(MODULE) :] == MODULE
    assert {part for part in first if "port" in part} != {part for part in other if "port" in part}
    with pytest.raises(XlingError, match="2 nodes wanted, SLURM names 0: it does not answer"):
        command(MODULE, 2, 2, Allocation(1, None, ""), answers(""))


def test_the_launcher_becomes_a_trainer_with_the_gpus_that_were_handed_out(monkeypatch):
    started: list[list[str]] = []
    monkeypatch.setattr(launch.os, "execvp", lambda _, words: started.append(words))
    monkeypatch.setattr(launch, "allocation", lambda _: Allocation(7, 1794720611.0, "n1"))
    monkeypatch.setattr(sys, "argv", ["launch", "--gpus", "8", *MODULE])
    for visible in ("", "3", "0,1", "GPU-a,GPU-b,GPU-c"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        launch.main()
    counted = [next((word for word in words if "nproc" in word), "alone") for words in started]
    assert counted == ["alone", "alone", "--nproc-per-node=2", "--nproc-per-node=3"]
    assert {words[-1] for words in started} == {"--deadline=1794720611"}


def test_a_busy_controller_is_asked_again(tmp_path, monkeypatch, fake):
    fake("squeue", f"[ -e {tmp_path}/asked ] && echo fine && exit; touch {tmp_path}/asked; exit 1")
    pauses: list[float] = []
    monkeypatch.setattr(launch.time, "sleep", pauses.append)
    assert (ask(["squeue"]), ask(["no-such-command-of-slurm"])) == ("fine", "")
    assert pauses == [launch.PAUSE]
