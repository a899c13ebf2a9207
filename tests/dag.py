"""The real Snakemake on the real Snakefile: presets with folders of their own, dry runs, and what they count."""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import yaml
from embedded import ROOT

from workflow_scripts.config import read_config
from workflow_scripts.plan.jobs import open_dag

TINY: dict[str, Any] = {
    "wiki_sentences": 600,
    "crawl_sentences": 600,
    "treebank_sentences": [20, 5, 5],
    "ner_sentences": [20, 5, 5],
    "nli_pairs": [30, 10, 10],
    "parallel_sentences": 20,
    "tatoeba_sentences": 10,
}


@dataclass(frozen=True)
class Laid:
    """One job as Snakemake lays it out: what it compares with an earlier run, and which inputs may be younger."""

    rule: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    params: tuple[str, ...]
    ancient: frozenset[str]


def laid(job):
    """Return what these tests ask of one of Snakemake's jobs."""
    return Laid(
        job.rule.name,
        tuple(sorted(map(str, job.input))),
        tuple(map(str, job.output)),
        tuple(map(str, job.non_derived_params)),
        frozenset(str(path) for path in job.input if path.is_ancient),
    )


def lay_out(config=None, targets=(), snakefile=ROOT / "Snakefile", read=laid, files=()):
    """Return all jobs of some targets, made or not, from Snakemake itself but in this process: half a second."""
    merged = read_config(ROOT / "config.yaml", *files) if config is None else config
    return [read(job) for job in open_dag(merged, targets, snakefile).jobs]


def run_module(*command, timeout=300, **variables):
    """Run a Python module from the repository root; all that it says is its `stdout`."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | variables
    words, pipe = [sys.executable, "-m", *command], subprocess.PIPE
    return subprocess.run(
        words, cwd=ROOT, env=environment, stdout=pipe, stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False
    )


def snakemake(*arguments, timeout=300, **variables):
    """Run Snakemake from the repository root."""
    return run_module("snakemake", "--nolock", *arguments, timeout=timeout, **variables)


def preset(folder, own_data=True, **changes):
    """Write a preset that keeps what it makes, and its raw data too, in a folder of its own."""
    path = folder / "preset.yaml"
    changes.setdefault("study", {})["results"] = str(folder / "results")
    if own_data:
        changes.setdefault("data", {}).setdefault("root", str(folder / "data"))
    path.write_text(yaml.safe_dump(changes), encoding="utf-8")
    return str(path)


def dry_run(*arguments):
    """Return the jobs of a dry run by rule."""
    done = snakemake("-n", *arguments)
    assert done.returncode == 0, done.stdout
    return job_counts(done.stdout)


def job_counts(said):
    """Return how many jobs of each rule a dry run shows."""
    table = said.split("Job stats:")[1].split("Reasons:")[0].splitlines()
    rows = [line.split() for line in table]
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit() and row[0].isidentifier()}


def nothing_to_do(done):
    """Tell whether a dry run found everything made."""
    return done.returncode == 0 and "Nothing to be done" in done.stdout


def fill(filler, free=0):
    """Fill a disk with a file, but for some bytes."""
    for mode, size in (("wb", 1 << 20), ("ab", 1 << 12)):
        with suppress(OSError), filler.open(mode, buffering=0) as handle:
            while handle.write(bytes(size)):
                pass
    os.truncate(filler, filler.stat().st_size - free // 4096 * 4096)
