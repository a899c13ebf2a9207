"""How a trainer is started in what a job was given."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from workflow_scripts import launch
from workflow_scripts.launch import Allocation, allocation, ask, command, gpus_of, moment
from xling.core.errors import XlingError

MODULE = ["xling.pretrain.run", "--run-json", "a b.json"]


def answers(*lines: str) -> launch.Ask:
    """Return a SLURM that gives these answers, one after the other."""
    left = list(lines)
    return lambda _: left.pop(0)


def test_outside_slurm_there_is_no_allocation() -> None:
    assert allocation({}, answers()) is None


def test_the_trainer_leaves_before_its_allocation_ends() -> None:
    day = allocation({"SLURM_JOB_ID": "7"}, answers("1000000|1086400|n1"))
    minute = allocation({"SLURM_JOB_ID": "7"}, answers("1000000|1000060|n1"))
    assert day is not None
    assert minute is not None
    assert day.deadline() == 1086400 - 120
    assert minute.deadline() == 1000060 - 5


@pytest.mark.parametrize("said", ["1000000|N/A|n1", "", "slurm_load_jobs error"])
def test_without_an_end_there_is_no_deadline(said: str) -> None:
    found = allocation({"SLURM_JOB_ID": "7"}, answers(said))
    assert found is not None
    assert found.deadline() is None


def test_times_are_read_in_both_ways_that_slurm_writes_them() -> None:
    assert moment("1794720611") == 1794720611
    written = moment("2026-11-15T05:30:11")
    assert written is not None
    assert moment("2026-11-15T05:31:11") == written + 60
    assert moment("Unknown") is None


def test_gpus_are_counted_from_what_was_handed_out() -> None:
    assert [gpus_of({"CUDA_VISIBLE_DEVICES": text}) for text in ("", "3", "0,1", "GPU-a,GPU-b,GPU-c")] == [1, 1, 2, 3]
    assert gpus_of({}) == 1


def test_one_gpu_needs_no_torchrun() -> None:
    assert command(MODULE, 1, 1, None) == [sys.executable, "-m", *MODULE]
    assert command(MODULE, 1, 2, None) == [sys.executable, "-m", *MODULE]  # no cluster, no nodes


def test_several_gpus_are_started_by_torchrun() -> None:
    started = command(MODULE, 4, 1, None)
    assert started[1:5] == ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=4"]
    assert started[5:] == ["-m", *MODULE]


def test_several_nodes_are_started_by_srun_and_meet_at_the_first() -> None:
    given = Allocation(123456, 0.0, 60.0, "n[1-2]")
    started = command(MODULE, 2, 2, given, answers("n1\nn2"))
    assert started[:2] == ["srun", "--nodes=2"]
    assert {"--master-addr=n1", "--nnodes=2", "--nproc-per-node=2"} <= set(started)
    assert started[-len(MODULE) :] == MODULE
    other = command(MODULE, 2, 2, Allocation(123457, 0.0, 60.0, "n[1-2]"), answers("n1\nn2"))
    assert {part for part in started if "port" in part} != {part for part in other if "port" in part}


def test_nodes_that_slurm_does_not_name_are_no_silent_single_node() -> None:
    with pytest.raises(XlingError, match="2 nodes wanted, SLURM names 0: it does not answer"):
        command(MODULE, 2, 2, Allocation(1, None, None, ""), answers(""))


def test_a_busy_controller_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "squeue"
    program.write_text(f"#!/bin/sh\n[ -e {tmp_path}/asked ] && echo fine && exit\ntouch {tmp_path}/asked\nexit 1\n")
    program.chmod(0o755)
    pauses: list[float] = []
    monkeypatch.setattr(launch.time, "sleep", pauses.append)
    asked: Sequence[str] = [str(program)]
    assert ask(asked) == "fine"
    assert pauses == [launch.PAUSE]
    assert ask([str(tmp_path / "absent")]) == ""
