"""Collect where a study's results come from: configuration, code, machine, time by stage, models, data.

python -m workflow_scripts.collect_provenance --plan plan.json --models FILE … --benchmarks DIR --out provenance.json

The plan (workflow_scripts.study.Study.provenance) says what the study is, which encoders and texts it has, and which
raw files it reads.

What a folder still holds of models, pairs and languages that the study has no longer is passed over.
"""

import argparse
import os
import platform
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.config import REPOSITORY
from workflow_scripts.lock import direct_dependencies
from workflow_scripts.plan.jobs import total
from workflow_scripts.plan.used import attempts, read_benchmark
from xling.core import provenance
from xling.core.errors import run
from xling.core.io import read_json, sha256_of, write_json

PROCESSORS = Path("/proc/cpuinfo")
TRAINING = "pretrain"  # the stage whose jobs write down every attempt
ENCODER = re.compile(r"[a-z][a-z0-9_-]*\.[a-z0-9][a-z0-9-]*\.s[0-9]+(?=\.|$)")  # en-fr.default.s1


@dataclass(frozen=True)
class Names:
    """What the jobs of a study are named by: its encoders, and the languages and pairs (`texts`) among all `codes`."""

    encoders: Collection[str]
    texts: Collection[str]
    codes: Collection[str]

    def include(self, job: str) -> bool:
        """Tell whether a job is the study's: none that names another encoder, pair or language."""
        encoder, text = ENCODER.match(job), job.split(".")[0]
        if encoder:
            return encoder[0] in self.encoders
        return text in self.texts or not set(text.split("-")) <= set(self.codes)


def stage_times(benchmarks: Path, models: Iterable[Mapping[str, Any]], names: Names) -> list[dict[str, Any]]:
    """Return jobs, attempts, seconds and memory of each stage that Snakemake has timed, by name.

    Snakemake keeps the attempt that succeeded; training also the seconds of those before it and its devices.
    """
    stages: dict[str, list[dict[str, float]]] = {}
    for path in (path for path in sorted(benchmarks.rglob("*.tsv")) if names.include(path.stem)):
        stage = path.relative_to(benchmarks).parts[0].removesuffix(".tsv")
        stages.setdefault(stage, []).append(read_benchmark(path))
    known = {TRAINING: list(models)}
    return [_stage(name, jobs, known.get(name, [])) for name, jobs in stages.items()]


def _stage(name: str, jobs: Sequence[Mapping[str, float]], models: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    wall = sum(job["wall"] for job in jobs) + sum(model["earlier_seconds"] for model in models)
    return {
        "stage": name,
        "jobs": len(jobs),
        "attempts": len(jobs) + sum(model["attempts"] - 1 for model in models),
        "wall": round(wall, 2),
        "cpu": round(sum(job["cpu"] for job in jobs), 2),
        "gpu": round(sum(model["gpu_seconds"] for model in models), 2),
        "memory": max(job["memory"] for job in jobs),
    }


def model_records(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield what each trained model says about itself in its provenance.json, by name."""
    for path in sorted(paths):
        known, described = read_json(path), read_json(path.with_name("run.json"))
        used = total(cost for _, cost in attempts(path))
        last = known["attempts"][-1]
        yield {
            "model": path.parent.name,
            "updates": described["pretrain"]["updates"],
            "commit": known["commit"],
            "versions": known["versions"],
            "device": last["device"],
            "host": last["host"],
            "attempts": len(known["attempts"]),
            "seconds": round(used.seconds, 1),
            "earlier_seconds": round(used.seconds - last.get("seconds", 0.0), 1),
            "gpu_seconds": round(used.gpu, 1),
        }


def data_files(root: Path, paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Return name, size and hash of raw files, of a folder all that are in it; one that was removed has neither."""
    folders = [path.rglob("*") if path.is_dir() else [path] for path in paths]
    return [_data_file(root, file) for file in sorted({f for found in folders for f in found if not f.is_dir()})]


def _data_file(root: Path, path: Path) -> dict[str, Any]:
    size, digest = (path.stat().st_size, sha256_of(path)) if path.is_file() else (None, None)
    name = path.relative_to(root) if path.is_relative_to(root) else path
    return {"file": name.as_posix(), "bytes": size, "sha256": digest}


def machine() -> dict[str, Any]:
    """Return this machine's processor, cores, memory and system."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "host": platform.node(),
        "processor": processor(PROCESSORS.read_text(encoding="utf-8") if PROCESSORS.is_file() else ""),
        "cores": os.cpu_count() or 1,
        "memory_gib": round(memory / 2**30, 2),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def processor(cpuinfo: str) -> str:
    """Return the processor's name as Linux gives it, else only its kind."""
    names = [line.split(":", 1)[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main() -> None:
    """Write the provenance of a study."""
    args = parse_args()
    plan, models = read_json(args.plan), list(model_records(args.models))
    names = Names(plan["encoders"], plan["texts"], plan["config"]["languages"])
    known = {
        **{key: plan[key] for key in ("study", "config", "config_hash")},
        "collected": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": provenance.commit(REPOSITORY),
        "changed": bool(provenance.git(REPOSITORY, "status", "--porcelain", "--untracked-files=no")),
        "python": platform.python_version(),
        "versions": provenance.installed(direct_dependencies(REPOSITORY / "pyproject.toml")),
        "machine": machine(),
        "stages": stage_times(args.benchmarks, models, names),
        "models": models,
        "data": data_files(Path(plan["data_root"]), map(Path, plan["data"])),
    }
    write_json(args.out, known)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", type=Path, required=True, help="what the study is and reads")
    parser.add_argument("--models", type=Path, nargs="*", default=[], help="provenance.json of each of its models")
    parser.add_argument("--benchmarks", type=Path, required=True, help="folder of Snakemake's benchmark files")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
