"""Collect where a study's results come from: configuration, code, machine, time by stage, models, data.

python -m workflow_scripts.collect_provenance --plan plan.json --models FILE … --benchmarks DIR --out provenance.json

The plan (workflow_scripts.study.Study.provenance) says what the study is, which encoders and texts it has, and which
raw files it reads.

What a folder still holds of models, pairs and languages that the study has no longer is passed over.
"""

import argparse
import csv
import platform
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.machine import commit, machine, versions
from workflow_scripts.plan.used import attempts
from xling.core.errors import InputError, run
from xling.core.io import read_json, read_lines, sha256_of, write_json

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
        stages.setdefault(stage, []).append(job_times(path))
    rows = [_stage(name, jobs) for name, jobs in stages.items()]
    for row in rows:
        if row["stage"] == TRAINING:
            _add_attempts(row, models)
    return rows


def job_times(path: Path) -> dict[str, float]:
    """Return wall and processor seconds and peak memory (MB) of a job from Snakemake's benchmark file."""
    rows = list(csv.DictReader(read_lines(path), delimiter="\t"))
    if not rows or "s" not in rows[0]:
        raise InputError(path, "not a benchmark of Snakemake's: no column 's'", line=1)
    names = {"wall": "s", "cpu": "cpu_time"}
    totals = {key: sum(_number(row.get(name)) for row in rows) for key, name in names.items()}
    return totals | {"memory": max(_number(row.get("max_rss")) for row in rows)}


def model_records(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield what each trained model says about itself in its provenance.json, by name."""
    for path in sorted(paths):
        known, described, used = read_json(path), read_json(path.with_name("run.json")), attempts(path)
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
    return [_data_file(root, file) for file in sorted({file for path in paths for file in _files(path)})]


def _stage(name: str, jobs: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    sums = {key: round(sum(job[key] for job in jobs), 2) for key in ("wall", "cpu")}
    memory = max(job["memory"] for job in jobs)
    return {"stage": name, "jobs": len(jobs), "attempts": len(jobs), **sums, "gpu": 0.0, "memory": memory}


def _add_attempts(row: dict[str, Any], models: Iterable[Mapping[str, Any]]) -> None:
    for model in models:
        row["attempts"] += model["attempts"] - 1
        row["wall"] = round(row["wall"] + model["earlier_seconds"], 2)
        row["gpu"] = round(row["gpu"] + model["gpu_seconds"], 2)


def _number(text: str | None) -> float:
    """Snakemake writes NA or - where a job was over before it could be measured."""
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def _files(path: Path) -> list[Path]:
    return [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]


def _data_file(root: Path, path: Path) -> dict[str, Any]:
    there = path.is_file()
    size, digest = (path.stat().st_size, sha256_of(path)) if there else (None, None)
    return {"file": _below(root, path), "bytes": size, "sha256": digest}


def _below(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def main() -> None:
    """Write the provenance of a study."""
    args = parse_args()
    plan, models = read_json(args.plan), list(model_records(args.models))
    names = Names(plan["encoders"], plan["texts"], plan["config"]["languages"])
    head, changed = commit()
    known = {
        **{key: plan[key] for key in ("study", "config", "config_hash")},
        "collected": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": head,
        "changed": changed,
        "python": platform.python_version(),
        "versions": versions(),
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
