"""Provenance: time over all attempts, GPU seconds by process, data by hash, and nothing invented where it is unknown."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workflow_scripts.collect_provenance import data_files, machine, main, model_records, stage_times
from xling.core.io import read_json
from xling.report.page.build import read_provenance

PLAN = {"encoders": ["en.mono.s1"], "texts": ["en", "en-fr"], "config": {"languages": ["en", "fr", "ru"]}}


def benchmark(folder: Path, name: str, wall: str, memory: str = "1", cpu: str = "2") -> None:
    """Write a benchmark file with the columns of Snakemake's that are read."""
    path = folder / f"{name}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"s\th:m:s\tmax_rss\tcpu_time\n{wall}\t0:00:01\t{memory}\t{cpu}\n", encoding="utf-8")


def trained(folder: Path, name: str, *attempts: dict[str, Any]) -> None:
    """Write what a model says about itself."""
    (folder / name).mkdir(parents=True)
    base = {"device": "CPU x86_64", "host": "a", "processes": 1, "began": "2026-11-15T05:00:00Z"}
    known = {"attempts": [base | attempt for attempt in attempts], "commit": "c" * 40, "versions": {"torch": "2"}}
    (folder / name / "provenance.json").write_text(json.dumps(known), encoding="utf-8")
    (folder / name / "run.json").write_text(json.dumps({"pretrain": {"updates": 7}}), encoding="utf-8")


def test_seconds_of_the_studys_own_jobs_add_up_by_stage_and_memory_is_the_largest(tmp_path: Path) -> None:
    benchmark(tmp_path, "train_bpe/en", "2.5", "100", "2.0")
    benchmark(tmp_path, "train_bpe/en-fr.wiki", "1.5", "300", "1.0")
    benchmark(tmp_path, "train_bpe/en-ru.wiki", "50")  # of a pair that the study has no longer
    benchmark(tmp_path, "single", "1.0", "NA", "NA")
    benchmark(tmp_path, "pretrain/ru.mono.s1", "50")
    found = {row["stage"]: row for row in stage_times(tmp_path, [], PLAN)}
    assert found["train_bpe"] == {
        "stage": "train_bpe", "jobs": 2, "attempts": 2, "wall": 4.0, "cpu": 3.0, "gpu": 0.0, "memory": 300.0,
    }  # fmt: skip
    assert (found["single"]["wall"], found["single"]["cpu"], found["single"]["memory"]) == (1.0, 0.0, 0.0)
    assert set(found) == {"train_bpe", "single"}


def test_training_counts_every_attempt_and_every_gpu(tmp_path: Path) -> None:
    benchmark(tmp_path / "b", "pretrain/m", "40")
    gpu = {"device": "NVIDIA V100", "processes": 8}
    trained(tmp_path / "m", "m", gpu | {"seconds": 100.0}, gpu | {}, gpu | {"seconds": 35.0})
    trained(tmp_path / "m", "n", {"seconds": 5.0})
    models = list(model_records(tmp_path / "m" / name / "provenance.json" for name in "nm"))
    (row,) = stage_times(tmp_path / "b", models, PLAN)
    assert (row["jobs"], row["attempts"]) == (1, 3)
    assert row["wall"] == 140.0  # the last attempt as Snakemake timed it, and the one before that was told
    assert row["gpu"] == 8 * 135.0
    told = [(model["model"], model["attempts"], model["seconds"]) for model in models]
    assert told == [("m", 3, 135.0), ("n", 1, 5.0)]


def test_data_is_named_below_its_root_with_hash_and_size(tmp_path: Path) -> None:
    (tmp_path / "data/panlex").mkdir(parents=True)
    (tmp_path / "data/panlex/b.csv").write_text("b", encoding="utf-8")
    (tmp_path / "data/panlex/a.csv").write_text("aa", encoding="utf-8")
    found = list(data_files(tmp_path / "data", [tmp_path / "data/gone.txt", tmp_path / "data/panlex"]))
    assert [item["file"] for item in found] == ["gone.txt", "panlex/a.csv", "panlex/b.csv"]
    assert found[1] == {"file": "panlex/a.csv", "bytes": 2, "sha256": hashlib.sha256(b"aa").hexdigest()}
    assert found[0]["sha256"] is None


def test_the_processor_is_named_where_the_system_names_it() -> None:
    assert machine("model name\t: Some CPU @ 2 GHz\nmodel name\t: Some CPU")["processor"] == "Some CPU @ 2 GHz"
    assert machine("")["processor"] != ""


def test_the_page_can_read_what_is_collected(tmp_path: Path, call: Callable[..., Any]) -> None:
    benchmark(tmp_path / "b", "pretrain/m", "40")
    trained(tmp_path / "m", "m", {"seconds": 5.0})
    trained(tmp_path / "m", "removed", {"seconds": 5.0})
    (tmp_path / "raw.txt").write_text("x", encoding="utf-8")
    plan = {"study": "demo", "config": {"languages": {}}, "config_hash": "ab12", "encoders": ["m"], "texts": ["en"]}
    plan |= {"data_root": str(tmp_path), "data": [str(tmp_path / "raw.txt")]}
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    done = call(
        main, "--plan", tmp_path / "plan.json", "--models", tmp_path / "m/m/provenance.json",
        "--benchmarks", tmp_path / "b", "--out", tmp_path / "provenance.json",
    )  # fmt: skip
    assert done.code == 0
    known = read_provenance(tmp_path / "provenance.json")
    assert known == read_json(tmp_path / "provenance.json")
    assert (known["config"], known["config_hash"], known["data"][0]["file"]) == (plan["config"], "ab12", "raw.txt")
    assert [model["model"] for model in known["models"]] == ["m"]
    assert known["commit"] == "unknown" or len(known["commit"]) == 40
    assert known["machine"]["cores"] >= 1
    assert known["versions"]["torch"].startswith("2.")
