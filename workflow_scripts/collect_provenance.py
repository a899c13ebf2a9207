"""Collect the provenance of a study's results: configuration, code, machine, time per stage, models and data.

python -m workflow_scripts.collect_provenance --plan plan.json --models FILE … --benchmarks DIR --out provenance.json

The plan (workflow_scripts.study.Study.provenance) holds the configuration of the study and names its encoders, texts
and raw files.

Files of models, pairs and languages that the study no longer has are ignored.
"""

import argparse
import os
import platform
import re
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from workflow_scripts.config import REPOSITORY
from workflow_scripts.plan.jobs import attempts, read_benchmark, total
from xling.core import provenance
from xling.core.errors import run
from xling.core.io import read_json, sha256_of, write_json

PROCESSORS = Path("/proc/cpuinfo")
TRAINING = "pretrain"  # the stage whose jobs record every attempt
ENCODER = re.compile(r"[a-z][a-z0-9_-]*\.[a-z0-9][a-z0-9-]*\.s[0-9]+(?=\.|$)")  # en-fr.default.s1


def is_own(job: str, plan: Mapping[str, Any]) -> bool:
    """Return whether a job belongs to the study, judged by the encoder, pair or language in its name."""
    encoder, text = ENCODER.match(job), job.split(".")[0]
    if encoder:
        return encoder[0] in plan["encoders"]
    return text in plan["texts"] or not set(text.split("-")) <= set(plan["config"]["languages"])


def stage_times(
    benchmarks: Path, models: Iterable[Mapping[str, Any]], plan: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the jobs, attempts, seconds and memory of each stage that Snakemake has timed, ordered by name.

    Snakemake records only the successful attempt. Training also records earlier attempts and GPU time.
    """
    stages: dict[str, list[dict[str, float]]] = {}
    for path in (path for path in sorted(benchmarks.rglob("*.tsv")) if is_own(path.stem, plan)):
        stage = path.relative_to(benchmarks).parts[0].removesuffix(".tsv")
        stages.setdefault(stage, []).append(read_benchmark(path))
    for name, jobs in stages.items():
        trained = list(models) if name == TRAINING else []
        wall = sum(job["wall"] for job in jobs) + sum(model["earlier_seconds"] for model in trained)
        yield {
            "stage": name,
            "jobs": len(jobs),
            "attempts": len(jobs) + sum(model["attempts"] - 1 for model in trained),
            "wall": round(wall, 2),
            "cpu": round(sum(job["cpu"] for job in jobs), 2),
            "gpu": round(sum(model["gpu_seconds"] for model in trained), 2),
            "memory": max(job["memory"] for job in jobs),
        }


def model_records(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield a summary of the provenance.json of each trained model, ordered by name."""
    for path in sorted(paths):
        known, used = read_json(path), total(attempts(path))
        last = known["attempts"][-1]
        yield {
            "model": path.parent.name,
            "updates": read_json(path.with_name("run.json"))["pretrain"]["updates"],
            "commit": known["commit"],
            "versions": known["versions"],
            "device": last["device"],
            "host": last["host"],
            "attempts": len(known["attempts"]),
            "seconds": round(used.seconds, 1),
            "earlier_seconds": round(used.seconds - last.get("seconds", 0.0), 1),
            "gpu_seconds": round(used.gpu, 1),
        }


def data_files(root: Path, paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield the name, size and hash of each raw file, also of files in folders; both are None for a removed file."""
    folders = [path.rglob("*") if path.is_dir() else [path] for path in paths]
    for path in sorted({file for found in folders for file in found if not file.is_dir()}):
        size, digest = (path.stat().st_size, sha256_of(path)) if path.is_file() else (None, None)
        name = path.relative_to(root) if path.is_relative_to(root) else path
        yield {"file": name.as_posix(), "bytes": size, "sha256": digest}


def direct_dependencies(pyproject: Path) -> list[str]:
    """Return the names of the package's direct dependencies."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return sorted(canonicalize_name(Requirement(item).name) for item in project["dependencies"])


def machine(cpuinfo: str) -> dict[str, Any]:
    """Return the host, processor (its architecture if `cpuinfo` has no name), cores, memory and system."""
    names = re.findall(r"^model name\s*: *(.*)$", cpuinfo, flags=re.MULTILINE)
    return {
        "host": platform.node(),
        "processor": names[0] if names else platform.machine(),
        "cores": os.cpu_count() or 1,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 2),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def main() -> None:
    """Write the provenance of a study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", type=Path, required=True, help="what the study is and reads")
    parser.add_argument("--models", type=Path, nargs="*", default=[], help="provenance.json of each of its models")
    parser.add_argument("--benchmarks", type=Path, required=True, help="folder of Snakemake's benchmark files")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    plan, models = read_json(args.plan), list(model_records(args.models))
    known = {
        **{key: plan[key] for key in ("study", "config", "config_hash")},
        "collected": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": provenance.commit(REPOSITORY),
        "changed": bool(provenance.git(REPOSITORY, "status", "--porcelain", "--untracked-files=no")),
        "python": platform.python_version(),
        "versions": provenance.installed(direct_dependencies(REPOSITORY / "pyproject.toml")),
        "machine": machine(PROCESSORS.read_text(encoding="utf-8") if PROCESSORS.is_file() else ""),
        "stages": list(stage_times(args.benchmarks, models, plan)),
        "models": models,
        "data": list(data_files(Path(plan["data_root"]), map(Path, plan["data"]))),
    }
    write_json(args.out, known)


if __name__ == "__main__":
    run(main)
