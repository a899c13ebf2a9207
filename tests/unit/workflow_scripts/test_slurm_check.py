"""What a user is told of a cluster: the answers below are those of a real SLURM 22.05, given by small fake commands."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from dag import run_module
from embedded import ROOT

from workflow_scripts.plan.jobs import Job
from workflow_scripts.site import read_site
from workflow_scripts.slurm_check import Finding, ask, look, minutes, partitions, requests, trial, write_site

SINFO = """\
cpu*|up|infinite|(null)|12
gpu|up|1-00:00:00|gpu:a100:4(S:0-1)|3
gpu|up|1-00:00:00|gpu:v100:8|1
short|up|2:00:00|gpu:2|1
old|inact|30:00|(null)|1
"""
CONFIG = """\
Configuration data as of 2026-11-15T05:34:35
AccountingStorageType   = accounting_storage/none
ClusterName             = test
MinJobAge               = 300 sec
SLURM_VERSION           = 22.05.8
"""
NO_DBD = "You are not running a supported accounting_storage plugin\nOnly 'accounting_storage/slurmdbd' is supported."
SBATCH = """\
case "$*" in
    *--version*) echo slurm-wlm 22.05.8 ;;
    *--gpus=a100:9*) echo 'allocation failure: Requested node configuration is not available' >&2; exit 1 ;;
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
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put fake commands before all others: a cluster without accounting, two kinds of GPU nodes in one partition."""
    folder = tmp_path / "bin"
    folder.mkdir()
    say(folder, "sinfo", SINFO)
    say(folder, "scontrol", CONFIG)
    say(folder, "sacctmgr", NO_DBD, code=1)
    say(folder, "squeue", "")
    say(folder, "scancel", "")
    script(folder, "sbatch", SBATCH)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def script(folder: Path, name: str, body: str) -> None:
    """Write a command."""
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


def say(folder: Path, name: str, text: str, code: int = 0) -> None:
    """Write a command that says something and leaves with a code."""
    script(folder, name, f"cat <<'END'\n{text.rstrip()}\nEND\nexit {code}")


def jobs(*asked: dict[str, Any], rule: str = "rule") -> list[Job]:
    return [Job(i, rule, resources=one) for i, one in enumerate(asked)]


def wrong(findings: list[Finding]) -> list[str]:
    return [finding.text for finding in findings if finding.mark == "wrong"]


@pytest.mark.usefixtures("cluster")
def test_a_cluster_that_is_as_expected_has_nothing_wrong() -> None:
    findings, _ = look(jobs(CPU, GPU), SQUEUE)
    assert wrong(findings) == []
    texts = [finding.text for finding in findings]
    assert texts[0] == "slurm-wlm 22.05.8, cluster test"
    assert {"partition gpu: 4 nodes, GPUs a node: 4 a100, 8 v100", "accounting: none, so sacct says nothing"} <= {
        *texts
    }


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("request_", "profile", "problem"),
    [
        (GPU | {"slurm_partition": "gpuu"}, SQUEUE, "no partition 'gpuu' (did you mean 'gpu'?)"),
        (GPU | {"runtime": 2880}, SQUEUE, "2880 minutes asked of partition gpu, which allows 1440 (set runtime in"),
        (GPU | {"slurm_account": "wrong"}, SQUEUE, "Invalid account or account/partition combination"),
        (GPU | {"gpu": 9, "gpu_model": "a100"}, SQUEUE, "Requested node configuration is not available"),
        (GPU | {"slurm_partition": "cpu"}, SQUEUE, "partition cpu: SLURM knows of no GPUs there"),
        (CPU | {"slurm_partition": "old", "runtime": 10}, SQUEUE, "and it is not up"),
        ({"slurm_partition": "cpu", "runtime": 5}, SQUEUE, "no account is set"),
        (CPU, {"slurm-status-command": "sacct"}, "sacct would wait for ever without accounting (expected squeue)"),
    ],
)
def test_each_mistake_is_named(request_: dict[str, Any], profile: dict[str, Any], problem: str) -> None:
    assert [text for text in wrong(look(jobs(request_), profile)[0]) if problem in text]


@pytest.mark.parametrize(("age", "mark"), [(300, "right"), (180, "right"), (179, "known"), (2, "known")])
def test_how_long_jobs_are_remembered_is_told(cluster: Path, age: int, mark: str) -> None:
    say(cluster, "scontrol", CONFIG.replace("300", str(age)))
    (told,) = [finding for finding in look(jobs(CPU), SQUEUE)[0] if "(MinJobAge)" in finding.text]
    assert told.mark == mark
    assert told.text.startswith(f"finished jobs are remembered for {age} s (MinJobAge)")


def test_with_accounting_the_account_has_to_be_ones_own(cluster: Path) -> None:
    say(cluster, "scontrol", CONFIG.replace("accounting_storage/none", "accounting_storage/slurmdbd"))
    say(cluster, "sacctmgr", "lab1\nlab1\nphysics")
    findings, site = look(jobs(CPU), SQUEUE)
    assert wrong(findings) == ["account 'lab' is not yours (did you mean 'lab1'?)"]
    assert site["account"] == "lab1"


@pytest.mark.usefixtures("cluster")
def test_the_site_file_can_be_used_as_it_is_and_replaces_none(tmp_path: Path) -> None:
    _, site = look(jobs(GPU | {"runtime": 2880}), SQUEUE)
    assert (site["partitions"], site["time_limits"]["gpu"]) == ({"cpu": "cpu", "gpu": "gpu"}, 1440)
    path = write_site(site, tmp_path / "site.yaml", "test")
    usual = {"gpu-long": {"runtime": 2880, "gpu": 1, "nodes": 1}}
    read = read_site(path, usual)
    assert read.account == "lab"
    assert read.minutes(read.requests("gpu-long", usual["gpu-long"]), attempt=1, resumes=True) == 1440
    before = path.read_text()
    assert [write_site({"account": "x"}, path, "test").name for _ in range(2)] == ["site-2.yaml", "site-3.yaml"]
    assert path.read_text() == before


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("minutes", "limits", "rule", "refused"),
    [
        (1000, {}, "tune", True),
        (1000, {"gpu": 2880}, "tune", True),
        (1000, {"gpu": 1440}, "tune", False),
        (720, {}, "tune", False),
        (1000, {}, "pretrain", False),
    ],
)
def test_a_retry_that_a_partition_would_refuse_is_named(
    minutes: int, limits: dict[str, int], rule: str, refused: bool
) -> None:
    profile = SQUEUE | {"preemptible-rules": ["pretrain"]}
    findings = look(jobs(GPU | {"runtime": minutes}, rule=rule), profile, limits)[0]
    text = "partition gpu allows 1440 minutes, and a retry would ask it for up to 2000 (set time_limits in site.yaml)"
    assert (text in [finding.text for finding in findings]) is refused
    assert wrong(findings) == []


def test_the_same_request_is_tried_once_and_in_the_profiles_syntax() -> None:
    assert requests(jobs(CPU, GPU, dict(CPU), {"_cores": 1})) == [GPU, CPU]
    assert trial(GPU | {"gpu_model": "a100"})[-2:] == ["--gpus=a100:1", "--wrap=true"]
    by_gres = trial({"slurm_partition": "gpu", "gres": "gpu:a100:4", "nodes": 2})
    assert by_gres == ["sbatch", "--test-only", "--partition=gpu", "--nodes=2", "--gres=gpu:a100:4", "--wrap=true"]


def test_answers_are_read_as_slurm_gives_them() -> None:
    known = partitions(SINFO + "slurm_load_partitions: a warning\n")
    assert [name for name, one in known.items() if one.default] == ["cpu"]
    assert (known["gpu"].nodes, known["short"].gpus, known["old"].up) == (4, {"": 2}, False)
    assert partitions("a|up|1:00|license:3,gpu:fake:2(S:0),gpu:1|1")["a"].gpus == {"fake": 2, "": 1}
    assert ask(["no-such-command-of-slurm"])[0] == 1
    limits = {"infinite": None, "n/a": None, "30:00": 30, "2:30:00": 150, "1-00:00:00": 1440, "7-12": 10800}
    assert {text: minutes(text) for text in limits} == limits


def test_the_command_checks_the_real_rules_and_writes_a_site(cluster: Path, tmp_path: Path) -> None:
    say(cluster, "sinfo", SINFO.replace("1-00:00:00", "12:00:00"))
    out, site = str(tmp_path / "site.yaml"), str(ROOT / "profiles/slurm/site.yaml")
    done = run_module("workflow_scripts.slurm_check", "--out", out, XLING_SITE=site)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "right  accepted: partition=gpu account=lab runtime=720" in done.stdout
    assert "wrong  1440 minutes asked of partition gpu, which allows 720" in done.stdout
    assert yaml.safe_load((tmp_path / "site.yaml").read_text())["partitions"] == {"cpu": "cpu", "gpu": "gpu"}
