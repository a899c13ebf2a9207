"""What a user is told of a cluster: the answers below are those of a real SLURM 22.05, given by small fake commands."""

import sys
from math import inf
from typing import Any

import pytest
from embedded import ROOT

from workflow_scripts.plan.jobs import Job
from workflow_scripts.slurm_check import ask, look, main, minutes

SINFO = """\
cpu|up|infinite
gpu|up|1-00:00:00
old|inact|30:00
"""
CONFIG = """\
Configuration data as of 2026-11-15T05:34:35
AccountingStorageType   = accounting_storage/none
ClusterName             = test
MinJobAge               = 300 sec
SLURM_VERSION           = 22.05.8
"""
SBATCH = """\
case "$*" in
    *--version*) echo slurm-wlm 22.05.8 ;;
    *a100:9*) echo 'allocation failure: Requested node configuration is not available' >&2; exit 1 ;;
    *--account=wrong*)
        echo 'sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified' >&2
        exit 1 ;;
    *) echo 'sbatch: Job 31 to start at 2026-11-15T05:34:44 using 1 processors on nodes n1 in partition gpu' >&2 ;;
esac
"""
CPU = {"slurm_partition": "cpu", "slurm_account": "lab", "runtime": 240, "mem_mb": 4000}
GPU = {"slurm_partition": "gpu", "slurm_account": "lab", "runtime": 1440, "mem_mb": 16000, "gpu": 1, "nodes": 1}
SQUEUE: dict[str, Any] = {"slurm-status-command": "squeue"}


@pytest.fixture
def say(fake):
    """Fake a whole cluster, and return a function that makes a command of it say something else."""

    def say(name, text):
        fake(name, f"cat <<'END'\n{text.rstrip()}\nEND")

    for name, text in {"sinfo": SINFO, "scontrol": CONFIG, "squeue": "", "scancel": ""}.items():
        say(name, text)
    fake("sbatch", SBATCH)
    return say


def jobs(*asked):
    return [Job(i, "rule", resources=one) for i, one in enumerate(asked)]


@pytest.mark.usefixtures("say")
def test_a_cluster_that_is_as_expected_has_nothing_wrong():
    findings = look(jobs(CPU, GPU, dict(CPU), {"_cores": 1}), SQUEUE)
    assert findings == [
        ("right", "slurm-wlm 22.05.8, cluster test"),
        ("right", "accepted: --partition=gpu --account=lab --time=1440 --mem=16000M --gpus=1 --nodes=1"),
        ("right", "accepted: --partition=cpu --account=lab --time=240 --mem=4000M"),
        ("right", "finished jobs are remembered for 300 s (MinJobAge)"),
    ]  # fmt: skip


@pytest.mark.usefixtures("say")
@pytest.mark.parametrize(
    ("request_", "profile", "problem"),
    [
        (GPU | {"runtime": 2880}, SQUEUE, "2880 minutes asked of partition gpu, which allows 1440 (set runtime in"),
        (GPU | {"slurm_account": "wrong"}, SQUEUE, "Invalid account or account/partition combination"),
        (GPU | {"gpu": 9, "gpu_model": "a100"}, SQUEUE, "Requested node configuration is not available"),
        (GPU | {"gpu": 0, "gres": "gpu:a100:9"}, SQUEUE, "--gres=gpu:a100:9 --nodes=1: allocation failure"),
        (CPU | {"slurm_partition": "old", "runtime": 10}, SQUEUE, "partition old is not up"),
        ({"slurm_partition": "cpu", "runtime": 5}, SQUEUE, "no account is set"),
        (CPU, {"slurm-status-command": "sacct"}, "sacct would wait for ever without accounting (expected squeue)"),
    ],
)
def test_each_mistake_is_named(request_, profile, problem):
    (found,) = [text for mark, text in look(jobs(request_), profile) if mark == "wrong"]
    assert problem in found


@pytest.mark.parametrize(("age", "mark"), [(180, "right"), (179, "known")])
def test_how_long_jobs_are_remembered_is_told(say, age, mark):
    say("scontrol", CONFIG.replace("300", str(age)))
    ((found, text),) = [finding for finding in look(jobs(CPU), SQUEUE) if "(MinJobAge)" in finding[1]]
    assert (found, text.split(",")[0]) == (mark, f"finished jobs are remembered for {age} s (MinJobAge)")


def test_limits_are_read_as_slurm_gives_them_and_a_silent_command_has_failed():
    limits = {"infinite": inf, "n/a": inf, "30:00": 30, "2:30:00": 150, "1-00:00:00": 1440, "7-12": 10800}
    assert {text: minutes(text) for text in limits} == limits
    assert ask(["no-such-command-of-slurm"])[0] == 1


def test_the_command_checks_the_real_rules(say, monkeypatch, capsys):
    say("sinfo", SINFO.replace("1-00:00:00", "12:00:00"))
    monkeypatch.setenv("XLING_SITE", str(ROOT / "profiles/slurm/site.yaml"))
    monkeypatch.setattr(sys, "argv", ["slurm_check"])
    with pytest.raises(SystemExit, match="True"):
        main()
    told = capsys.readouterr().out
    assert "right  accepted: --partition=gpu --account=lab --time=720" in told
    assert "wrong  1440 minutes asked of partition gpu, which allows 720" in told
