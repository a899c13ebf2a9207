"""A place to run Snakemake in as a user would, from the root of a checkout, without writing into this one."""

import os
import shutil
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import yaml
from cluster import attempt, output, queue
from dag import TINY
from embedded import ROOT

NOT_LINKED = ("results", "logs", "build")
MODEL = "en-fr.default.s1"
SITE = {"account": "lab", "partitions": {"cpu": "cpu", "gpu": "gpu"}}
# The profile's own patience is made for queues; here seconds count.
IMPATIENT = (
    "--slurm-init-seconds-before-status-checks=1",
    "--seconds-between-status-checks=1",
    "--latency-wait=10",
)


class Job(NamedTuple):
    """A line of the queue."""

    number: str
    state: str
    nodes: str


class Workplace:
    """Links to this checkout's files, with a study, a site, locks, logs and results of its own."""

    def __init__(self, folder, pretrain, data, **classes):
        self.folder, self.results = folder.resolve(), folder.resolve() / "results"
        self.pretrain, self.data, self.variables = pretrain, data, dict[str, str]()
        folder.mkdir(parents=True, exist_ok=True)
        for path in ROOT.iterdir():
            if path.name not in NOT_LINKED and not path.name.startswith("."):
                (folder / path.name).symlink_to(path)
        self.write("preset.yaml", self._preset())
        self.write("site.yaml", SITE | {"classes": {key.replace("_", "-"): value for key, value in classes.items()}})

    def beside(self, name, pretrain=None, **classes):
        """Return another place for the same data, trained in another way or with other resources."""
        return Workplace(self.folder.parent / name, pretrain or self.pretrain, self.data, **classes)

    def _preset(self):
        """Return a study of one pair and one setting on very little text."""
        chosen = {"name": "tiny", "results": str(self.results), "languages": [], "pairs": ["en-fr"], "extra": []}
        return {
            "study": chosen | {"settings": ["default"], "skip": [], "tasks": ["ner"]},
            "data": {"root": str(self.data)},
            "synthetic": TINY | {"ner_sentences": [40, 10, 10]},
            "text": {"valid_lines": 20, "test_lines": 20},
            "bpe": {"joint_merges": 150, "language_merges": 80},
            "pretrain": self.pretrain,
        }

    def write(self, name, content):
        """Write a YAML file here."""
        (self.folder / name).write_text(yaml.safe_dump(content), encoding="utf-8")

    @property
    def study(self):
        """The folder of the study's results."""
        return self.results / "tiny"

    @property
    def model(self):
        """The model that the tests of faults are about."""
        return self.study / "models" / MODEL / "model.safetensors"

    def take_inputs(self, other):
        """Take over everything that another place made before training."""
        made = [path for path in other.study.iterdir() if path.name not in ("models", "work", "logs", "benchmarks")]
        for path in made:
            if path.is_dir():
                shutil.copytree(path, self.study / path.name, symlinks=True)

    # ------------------------------------------------------------------ Snakemake

    def start(self, *arguments, profile=("--profile", "slurm")):
        """Start Snakemake on the cluster, its output appended to a file."""
        command = [sys.executable, "-m", "snakemake", *profile, *IMPATIENT, "--configfile", "preset.yaml"]
        return self._start([*command, "--", *map(str, arguments)] if arguments else command)

    def start_here(self, *arguments):
        """Start Snakemake without the cluster."""
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--configfile", "preset.yaml"]
        return self._start([*command, "--", *map(str, arguments)])

    def _start(self, command):
        own = {"XLING_SITE": str(self.folder / "site.yaml"), "XLING_DEVICE": "cpu"}  # the GPUs are only names
        environment = os.environ | {"OMP_NUM_THREADS": "1"} | own | self.variables
        with (self.folder / "snakemake.out").open("ab") as out:
            return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=out, stderr=out)

    def finish(self, process, seconds=600):
        """Wait for a started Snakemake, which must succeed."""
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            end(process)
            raise AssertionError(f"Snakemake took more than {seconds:.0f} s: {self.said()[-6000:]}") from None
        assert code == 0, self.said()[-8000:]

    def said(self):
        """Return all that Snakemake said here."""
        return (self.folder / "snakemake.out").read_text(encoding="utf-8", errors="replace")

    def nothing_left(self, target):
        """Say whether a dry run finds a target made."""
        command = [sys.executable, "-m", "snakemake", "-n", "--configfile", "preset.yaml", "--", str(target)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        return "Nothing to be done" in done.stdout + done.stderr

    # ------------------------------------------------------------------ what happens meanwhile

    def jobs(self, *states):
        """Return the jobs in the queue that were submitted from here."""
        lines = output("squeue", "-h", "-t", "all", "-o", "%i|%T|%N|%Z").splitlines()
        rows = [line.split("|") for line in lines]
        found = [Job(*row[:3]) for row in rows if row[3] == str(self.folder)]
        return [job for job in found if job.state in states] if states else found

    def update(self):
        """Return the update of the newest checkpoint of the run in progress; 0 before there is one."""
        steps = self.study.glob(f"work/{MODEL}-*/checkpoints/step-*")
        return max((int(path.name.removeprefix("step-")) for path in steps), default=0)

    def wait_until(self, what, look, seconds=300):
        """Wait until a look finds something and return that; say how far things were if it never does."""
        end_time = time.monotonic() + seconds
        while not (found := attempt(look)):
            assert time.monotonic() < end_time, f"never came: {what}; {queue()}; {self.said()[-6000:]}"
            time.sleep(0.3)
        return found

    def wait_for_training(self, after=0):
        """Wait until a job of this place has saved some training after an update, and return it."""
        running: list[Job] = self.wait_until("a checkpoint", lambda: self.update() > after and self.jobs("RUNNING"))
        return running[0]


def end(process):
    """End a Snakemake that was started here, and wait for it; its jobs end with the cluster."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(number)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                continue
