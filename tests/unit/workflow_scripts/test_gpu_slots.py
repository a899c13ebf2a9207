"""GPUs are handed out one slot per job, never twice, and a slot is free as soon as its process is gone."""

import os
import subprocess
import sys

import pytest
from embedded import ROOT

from workflow_scripts import gpu_slots
from workflow_scripts.gpu_slots import devices, slot_folder, take
from xling.core.errors import XlingError

SHOW = "import os, time; print(os.environ['CUDA_VISIBLE_DEVICES'], flush=True); time.sleep(60)"
THROUGH_EXEC = (
    "import os; from workflow_scripts.gpu_slots import take; take(os.environ); "
    "os.execvp('sh', ['sh', '-c', 'echo $CUDA_VISIBLE_DEVICES; exec sleep 60'])"
)


@pytest.fixture(autouse=True)
def two_gpus(tmp_path, monkeypatch):
    """Let the machine seem to have two GPUs, and the usual files beside them."""
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        (tmp_path / "dev" / name).mkdir(parents=True)
    monkeypatch.setattr(gpu_slots, "DEVICES", tmp_path / "dev")


def take_now(folder, **environment):
    """Return the GPU of a slot that is free, or None without waiting."""
    pool, share = devices(environment), int(environment.get("XLING_GPU_SHARE", 1))
    return next(iter(gpu_slots.try_slots(folder, pool, share, 1)), None)


def test_each_job_has_its_own_gpu_until_its_lock_is_closed(tmp_path):
    given: list[dict[str, str]] = [{}, {}]
    locks = [take(environment, folder=tmp_path) for environment in given]
    found = {"XLING_DEVICE": "any"}  # nobody has named them: they need not work
    assert given == [found | {"CUDA_VISIBLE_DEVICES": number} for number in "01"]
    assert take_now(tmp_path) is None
    os.close(locks[0][0])
    assert take_now(tmp_path) == "0"


def test_small_jobs_share_a_gpu_and_spread_before_they_double(tmp_path):
    given = [take_now(tmp_path, XLING_GPU_SHARE="2") for _ in range(5)]
    assert given == ["0", "1", "0", "1", None]


def test_several_gpus_are_taken_together_or_not_at_all(tmp_path, monkeypatch):
    first, seen = take({}, folder=tmp_path / "slots"), []

    def look_and_free(seconds):
        found = gpu_slots.try_slots(tmp_path / "slots", ["0", "1"], 1, 2)
        seen.append(list(found))
        for lock in [*found.values(), *first]:
            os.close(lock)

    monkeypatch.setattr(gpu_slots.time, "sleep", look_and_free)
    environment: dict[str, str] = {}
    take(environment, 2, folder=tmp_path / "slots")
    assert seen == [["1"]]  # the second GPU was not held while waiting for the first
    assert environment["CUDA_VISIBLE_DEVICES"] == "0,1"


@pytest.mark.parametrize(
    ("environment", "count", "given"),
    [
        ({"CUDA_VISIBLE_DEVICES": "GPU-3f/a:1, 5"}, 2, "GPU-3f/a:1,5"),  # the pool, and names that make odd files
        ({"SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "2,3"}, 1, "2,3"),  # SLURM hands out its own
        ({"SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "2,3", "XLING_GPU_SHARE": "1"}, 1, "2"),  # unless asked to
        ({"CUDA_VISIBLE_DEVICES": ""}, 1, ""),
    ],
)
def test_visible_gpus_are_the_pool(environment, count, given, tmp_path):
    before = dict(environment)
    locks = take(environment, count, folder=tmp_path / "slots")
    assert environment == before | {"CUDA_VISIBLE_DEVICES": given}
    assert bool(locks) == (tmp_path / "slots").exists() == (given not in ("2,3", ""))


def test_what_cannot_be_had_is_named(tmp_path):
    with pytest.raises(XlingError, match="3 GPUs wanted, 2 here"):
        take({}, 3, folder=tmp_path)
    with pytest.raises(XlingError, match="XLING_GPU_SHARE=many: expected a whole number from 1 up"):
        take({"XLING_GPU_SHARE": "many"}, folder=tmp_path)


@pytest.mark.parametrize("command", [["-m", "workflow_scripts.gpu_slots", "show_gpu"], ["-c", THROUGH_EXEC]])
def test_a_process_holds_its_slot_until_it_is_killed(tmp_path, command):
    """The command runs a module in the slot; the launcher takes a slot and becomes the trainer."""
    (tmp_path / "show_gpu.py").write_text(SHOW)
    own = {"CUDA_VISIBLE_DEVICES": "4", "XDG_RUNTIME_DIR": str(tmp_path), "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    environment = {key: value for key, value in os.environ.items() if key != "SLURM_JOB_ID"} | own
    with subprocess.Popen([sys.executable, *command], env=environment, stdout=subprocess.PIPE, text=True) as held:
        assert held.stdout is not None
        assert held.stdout.readline() == "4\n"
        assert take_now(slot_folder(own), **own) is None
        held.kill()
    assert take_now(slot_folder(own), **own) == "4"
