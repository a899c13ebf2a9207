"""Provenance: time over all attempts, GPU seconds by process, data by hash, and nothing invented where it is unknown."""

import hashlib
import json
from typing import Any

from workflow_scripts.collect_provenance import machine, main
from xling.core.io import read_json
from xling.report.page.build import read_provenance


def benchmark(path, *values):
    """Write a benchmark file with the columns of Snakemake's that are read: seconds, memory and CPU seconds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map("\t".join, [("s", "max_rss", "cpu_time"), values])) + "\n", encoding="utf-8")


def trained(folder, *attempts):
    """Write what a model says about itself."""
    folder.mkdir(parents=True)
    base = {"device": "CPU x86_64", "host": "a", "processes": 1, "began": "2026-11-15T05:00:00Z"}
    known = {"attempts": [base | attempt for attempt in attempts], "commit": "c" * 40, "versions": {"torch": "2"}}
    (folder / "provenance.json").write_text(json.dumps(known), encoding="utf-8")
    (folder / "run.json").write_text(json.dumps({"pretrain": {"updates": 7}}), encoding="utf-8")
    return folder / "provenance.json"


def test_what_is_collected_counts_all_attempts_and_the_page_can_read_it(tmp_path, call):
    benchmark(tmp_path / "b/train_bpe/en.tsv", "2.5", "100", "2.0")
    benchmark(tmp_path / "b/train_bpe/en-fr.wiki.tsv", "1.5", "300", "1.0")
    benchmark(tmp_path / "b/train_bpe/en-ru.wiki.tsv", "50", "1", "1")  # of a pair that the study has no longer
    benchmark(tmp_path / "b/pretrain/ru.mono.s1.tsv", "50", "1", "1")
    benchmark(tmp_path / "b/pretrain/en.mono.s1.tsv", "40", "1", "2")
    benchmark(tmp_path / "b/single.tsv", "1.0", "NA", "NA")
    gpu = {"device": "NVIDIA V100", "processes": 8}
    models = [
        trained(tmp_path / "m/n", {"seconds": 5.0}),
        trained(tmp_path / "m/en.mono.s1", gpu | {"seconds": 100.0}, gpu, gpu | {"seconds": 35.0}),
    ]
    (tmp_path / "data/panlex").mkdir(parents=True)
    for name, text in (("b", "b"), ("a", "aa")):
        (tmp_path / f"data/panlex/{name}.csv").write_text(text, encoding="utf-8")
    plan: dict[str, Any] = {"study": "demo", "config": {"languages": ["en", "fr", "ru"]}, "config_hash": "ab12"}
    plan |= {"encoders": ["en.mono.s1"], "texts": ["en", "en-fr"], "data_root": str(tmp_path / "data")}
    plan |= {"data": [str(tmp_path / "data/gone.txt"), str(tmp_path / "data/panlex")]}
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    out = tmp_path / "provenance.json"
    done = call(
        main, "--plan", tmp_path / "plan.json", "--models", *models, "--benchmarks", tmp_path / "b", "--out", out
    )
    assert done.code == 0
    known = read_provenance(out)
    assert known == read_json(out)
    assert (known["study"], known["config"], known["config_hash"]) == ("demo", plan["config"], "ab12")
    keys = ("stage", "jobs", "attempts", "wall", "cpu", "gpu", "memory")
    # Of the training: the last attempt as Snakemake timed it, and the one before that was told, on eight GPUs.
    assert [tuple(row[key] for key in keys) for row in known["stages"]] == [
        ("pretrain", 1, 3, 140.0, 2.0, 8 * 135.0, 1.0),
        ("single", 1, 1, 1.0, 0.0, 0.0, 0.0),
        ("train_bpe", 2, 2, 4.0, 3.0, 0.0, 300.0),
    ]
    told = [(model["model"], model["attempts"], model["seconds"]) for model in known["models"]]
    assert told == [("en.mono.s1", 3, 135.0), ("n", 1, 5.0)]
    assert [file["file"] for file in known["data"]] == ["gone.txt", "panlex/a.csv", "panlex/b.csv"]
    assert known["data"][0]["sha256"] is None
    assert known["data"][1] == {"file": "panlex/a.csv", "bytes": 2, "sha256": hashlib.sha256(b"aa").hexdigest()}
    assert known["commit"] == "unknown" or len(known["commit"]) == 40
    assert known["machine"]["cores"] >= 1
    assert known["versions"]["torch"].startswith("2.")


def test_the_processor_is_named_where_the_system_names_it():
    assert machine("model name\t: Some CPU @ 2 GHz\nmodel name\t: Some CPU")["processor"] == "Some CPU @ 2 GHz"
    assert machine("")["processor"] != ""
