"""The stored form of a study: few files that hold everything its jobs wrote."""

import json
from typing import Any

import numpy as np

from xling.core.io import write_json
from xling.report.kept import pack

SCORES = [{"items": {"right": f"{n} 0 300 1", "gold": "9 0 300 1"}, "measures": {"f1": 61.25}} for n in range(4)]
FILES: dict[str, Any] = {
    "models/en.mono.s1/run.json": {"model": "en.mono.s1", "seed": 1},
    "models/en.mono.s1/provenance.json": {"commit": "abc", "seconds": 2.5},
    "transfer/en-fr.untrained.s1/run.json": {"model": "en-fr.untrained.s1", "seed": 1},
    "transfer/en-fr.untrained.s1/ner.json": {"task": "ner", "dev": 57.68988644029589},
    "transfer/en-fr.default.s1/pos.json": {"task": "pos", "what": "Größe"},
    "contextual/en.mono.s1.json": {
        "model": "en.mono.s1",
        "trainings": [{"layer": n, "scores": {"en": SCORES[2 * n], "fr": SCORES[2 * n + 1]}} for n in (0, 1)],
    },
    "contextual/en.untrained.s1.json": {"model": "en.untrained.s1", "trainings": []},
}


def test_everything_is_in_a_few_files(tmp_path):
    study, kept = tmp_path / "study", tmp_path / "kept"
    for name, value in FILES.items():
        write_json(study / name, value)
    write_json(study / "transfer/en-fr.default.s1/jobs/ner.json", {"large": True})  # not stored
    pack(study, kept)
    names = {path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file()}
    assert names == {"models.jsonl", "transfer.jsonl", "contextual.jsonl", "contextual/en.mono.s1.npz"}
    texts = [(kept / f"{name}.jsonl").read_text(encoding="utf-8") for name in ("models", "transfer", "contextual")]
    models, scores, jobs = ([json.loads(line) for line in text.splitlines()] for text in texts)
    run, provenance, untrained, floor, default, job, none = FILES.values()
    trained = {"model": "en.mono.s1", "run": run, "provenance": provenance}
    assert models == [trained, {"model": "en-fr.untrained.s1", "run": untrained}]
    assert scores == [default, floor]
    with np.load(kept / "contextual/en.mono.s1.npz") as stored:
        assert stored["counts"].dtype == np.uint16
        columns = [" ".join(map(str, own)) for own in np.split(stored["counts"], stored["ends"][:-1])]
    assert len(columns) == 1 + 4  # the gold column is the same in all four
    for score in (score for training in jobs[0]["trainings"] for score in training["scores"].values()):
        score["items"] = {name: columns[number] for name, number in score["items"].items()}
    assert jobs == [job, none]
