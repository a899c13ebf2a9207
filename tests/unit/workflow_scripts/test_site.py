"""What a class of jobs asks of a cluster, by its site file, and how Snakemake asks the cluster for it."""

import os
import subprocess
import time

import pytest
import yaml
from embedded import ROOT

from workflow_scripts.site import FILE, PATIENT, Site, extra_flags, load_site, read_site

USUAL = {"cpu": {"mem_mb": 4000, "runtime": 240}, "gpu-long": {"mem_mb": 16000, "runtime": 1440, "gpu": 1, "nodes": 1}}
PARTITIONS = {"cpu": "small", "gpu": "big"}


# content of a site file | class of jobs | what jobs of the class ask for
ASKED = """
{} | cpu | {mem_mb: 4000, runtime: 240, slurm_partition: small, slurm_account: lab}
{} | gpu-long | {slurm_partition: big, gpu: 1, gpu_model: null, mpi: null, slurm_extra: null}
{gpu_type: a100} | gpu-long | {gpu: 1, gpu_model: a100, gres: null}
{classes: {gpu-long: {gpu: 8, nodes: 2}}} | gpu-long | {gpu: 8, nodes: 2, tasks: 2, tasks_per_gpu: 0, mpi: srun, slurm_extra: --gpus-per-node=4}
{gpu_type: a100, gpu_syntax: gres, classes: {gpu-long: {gpu: 4, nodes: 2}}} | gpu-long | {gres: "gpu:a100:2", gpu: 0, slurm_extra: null}
{account: "", classes: {gpu-long: {partition: long, runtime: 120, qos: night}}} | gpu-long | {slurm_partition: long, runtime: 120, qos: night, slurm_account: null}
"""


@pytest.mark.parametrize("row", ASKED.strip().splitlines())
def test_what_a_class_asks_for(row):
    site, name, expected = map(yaml.safe_load, row.split(" | "))
    asked = Site(**{"account": "lab", "partitions": PARTITIONS, **site}).requests(name, USUAL[name])
    assert {key: asked.get(key) for key in expected} == expected


def patiently(folder, *command):
    """Run a command of SLURM as Snakemake's executor does; return its exit code and what it says."""
    path = os.pathsep.join([str(ROOT / PATIENT), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "XLING_SUBMIT_TRIES": "5", "XLING_SUBMIT_PAUSE": "0"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


SBATCH = """\
if [ $(wc -l <asked) -lt {failures} ]; then echo >>asked; echo 'sbatch: error: {error}' >&2; exit 1; fi
echo "42;$3\""""
AWAY = "Unable to contact slurm controller"
LIMIT = "Job violates accounting/QOS policy (job submit limit)"


@pytest.mark.parametrize(
    ("error", "queued", "failures", "expected"),
    [
        ("", "", 0, (0, "42;a b\n", 0)),
        (f"Batch job submission failed: {AWAY} (connect failure)", "", 2, (0, "42;a b\n", 2)),
        (AWAY, "", 9, (1, "", 5)),
        (LIMIT, "7", 2, (0, "42;a b\n", 2)),
        (LIMIT, "", 2, (1, "", 1)),  # too large a job
        ("Invalid account or account/partition combination specified", "7", 2, (1, "", 1)),
    ],
)
def test_a_submission_waits_for_the_controller_and_for_room(error, queued, failures, expected, tmp_path, fake):
    (tmp_path / "asked").touch()
    fake("sbatch", SBATCH.format(failures=failures, error=error))
    fake("squeue", f"echo {queued}")
    code, said, errors = patiently(tmp_path, "sbatch", "--parsable", "--wrap", "a b")
    asked = len((tmp_path / "asked").read_text().splitlines())
    assert (code, said, asked) == expected
    assert (error[:20] in errors) == (code == 1 or not error)
    assert (tmp_path / "logs/slurm/waiting.log").exists() == (asked > 1 or (asked == 1 and code == 0))


NO = f"echo slurm_load_jobs error: {AWAY} >&2; exit 1"


@pytest.mark.parametrize(
    ("asked", "squeue", "sacct", "told"),
    [
        ("squeue", "echo '7|RUNNING'; echo '8|COMPLETED'", NO, "7|RUNNING 8|COMPLETED 9|UNKNOWN"),
        ("squeue", "true", NO, "7|UNKNOWN 8|UNKNOWN 9|UNKNOWN"),
        ("squeue", NO, NO, ""),  # not known yet: the executor asks again
        ("sacct", "echo '7|FAILED'", NO, "7|FAILED 8|UNKNOWN 9|UNKNOWN"),  # accounting is away, or there is none
        ("sacct", NO, "echo '7|CANCELLED by 0'; echo '70|RUNNING'", "7|CANCELLED 70|RUNNING"),
        ("sacct", NO, NO, ""),
    ],
)
def test_the_states_of_jobs_are_told_without_a_controller_and_of_jobs_that_slurm_forgot(
    asked, squeue, sacct, told, tmp_path, fake
):
    commands = {"squeue": squeue, "sacct": sacct, "sbatch": "cat number"}
    for name, text in commands.items():
        fake(name, text)
    for number, name in ((7, "a-run"), (8, "a-run"), (6, "another"), (9, "a-run")):
        (tmp_path / "number").write_text(f"{number}\n")
        assert patiently(tmp_path, "sbatch", "--parsable", "--job-name", name, "--wrap", "true")[1] == f"{number}\n"
    code, said, errors = patiently(tmp_path, asked, "--noheader", "--name", "a-run")
    assert (code, " ".join(said.split("\n")).strip(), errors) == (0, told, "")
    assert patiently(tmp_path, asked, "--me")[0] == int(commands[asked] == NO)  # as it is


def test_nodes_whose_gpus_did_not_work_are_avoided_for_a_day(tmp_path):
    bad, now = tmp_path / "bad-nodes.txt", time.time()
    assert extra_flags({}, bad) == ""
    bad.write_text(f"{now - 90000:.0f} old\n{now:.0f} n2\n{now:.0f} n1\n{now - 9:.0f} n2\nhalf a li\n{now:.0f}")
    assert extra_flags({}, bad) == "--exclude=n1,n2"
    assert extra_flags({"slurm_extra": "--gpus-per-node=4"}, bad) == "--gpus-per-node=4 --exclude=n1,n2"


@pytest.mark.parametrize(
    ("limit", "resumes", "asked"),
    [
        (None, False, [240, 480, 720]),
        (None, True, [240, 240, 240]),
        (600, False, [240, 480, 600]),
        (600, True, [240, 240, 240]),
        (100, False, [240, 240, 240]),  # never cut: it could not finish, so SLURM had better refuse it
        (100, True, [100, 100, 100]),
    ],
)
def test_a_retry_asks_for_no_more_time_than_the_partition_allows(limit, resumes, asked):
    site = Site("lab", PARTITIONS, time_limits={"small": limit} if limit else {"other": 1})
    requests = site.requests("cpu", USUAL["cpu"])
    assert [site.minutes(requests, attempt, resumes) for attempt in (1, 2, 3)] == asked


# content of a site file | what the line says
MISTAKES = """
{acount: lab} | acount: unknown key (did you mean 'account'?)
{account: 4711} | account: expected text, found 4711 (put it in quotes)
{gpu_syntax: gpu} | gpu_syntax: expected one of gpus, gres, found 'gpu'
{partitions: a100} | partitions: expected keys and values, found the text 'a100' (The partitions of jobs without and with
{partitions: {gpu-long: a100}} | partitions.gpu-long: unknown key (did you mean 'gpu'?); for one class: classes.gpu-long.partition
{classes: {gpu-huge: {}}} | classes.gpu-huge: no such class (did you mean 'gpu-long'?)
{classes: {cpu: {memory: 1}}} | classes.cpu.memory: unknown key (did you mean 'mem_mb'?)
{classes: {cpu: {runtime: 1h}}} | classes.cpu.runtime: expected a whole number, found the text '1h'
{time_limits: {big: "1-00:00:00"}} | time_limits.big: expected a whole number, found the text '1-00:00:00' (Minutes that
{partitions: {gpu: big}, time_limits: {gpu: 60}} | time_limits.gpu: no job goes to such a partition (big)
{classes: {gpu-long: {gpu: 3, nodes: 2}}} | config: classes.gpu-long: 3 GPUs cannot be shared out evenly over 2 nodes
"""


@pytest.mark.parametrize("row", MISTAKES.strip().splitlines())
def test_a_mistake_is_named(tmp_path, row, monkeypatch, capsys):
    content, problem = row.split(" | ")
    path = tmp_path / "site.yaml"
    path.write_text(content, encoding="utf-8")
    monkeypatch.setenv("XLING_SITE", str(path))
    with pytest.raises(SystemExit, match="2"):
        load_site(tmp_path, USUAL)
    (told,) = capsys.readouterr().err.splitlines()
    assert told.removeprefix(f"config: {path}: ").startswith(problem)


def test_the_profiles_own_site_is_taken_unless_another_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("XLING_SITE", raising=False)
    assert load_site(ROOT, USUAL) == read_site(ROOT / FILE, USUAL)
    (tmp_path / "site.yaml").write_text("account: other")
    monkeypatch.setenv("XLING_SITE", str(tmp_path / "site.yaml"))
    assert load_site(ROOT, USUAL).account == "other"
