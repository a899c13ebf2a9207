"""Store the results of a finished study as lines of a few files instead of many small files.

models.jsonl has one line per encoder (`run`, and `provenance` if it was trained), transfer.jsonl one line per score of
Table 1, and contextual.jsonl one line per job of Figures 5 and 8. contextual/JOB.npz holds the counts of a job's test
sentences: `counts` has all distinct columns one after the other, and `ends` the end of each column. In
contextual.jsonl, `items` has the numbers of these columns.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from xling.core.io import atomic_path, read_json, write_text


def pack(results: Path, out: Path) -> None:
    """Write the results of a study to `out`, in the files described above."""
    encoders = []
    for path in sorted([*results.glob("models/*/run.json"), *results.glob("transfer/*/run.json")]):
        encoders.append({"model": path.parent.name, "run": read_json(path)})
        if (provenance := path.with_name("provenance.json")).exists():
            encoders[-1]["provenance"] = read_json(provenance)
    scores = [read_json(path) for path in sorted(results.glob("transfer/*/*.json")) if path.name != "run.json"]
    jobs = [_pack_counts(read_json(path), out) for path in sorted(results.glob("contextual/*.json"))]
    for name, lines in (("models", encoders), ("transfer", scores), ("contextual", jobs)):
        texts = [json.dumps(line, ensure_ascii=False, sort_keys=True, separators=(",", ":")) for line in lines]
        if texts:
            with write_text(out / f"{name}.jsonl") as handle:
                handle.write("\n".join(texts) + "\n")


def _pack_counts(job: dict[str, Any], out: Path) -> dict[str, Any]:
    """Write the counts of a job, each distinct column once, and replace them in the job by the column indices."""
    columns: dict[str, int] = {}
    for score in (score for training in job.get("trainings", []) for score in training["scores"].values()):
        score["items"] = {name: columns.setdefault(text, len(columns)) for name, text in score["items"].items()}
    arrays = [np.array(text.split(), dtype=np.int64) for text in columns]
    if arrays:
        counts, ends = np.concatenate(arrays), np.cumsum([len(column) for column in arrays])
        with atomic_path(out / f"contextual/{job['model']}.npz") as path, path.open("wb") as handle:
            np.savez_compressed(handle, counts=counts.astype(np.min_scalar_type(counts.max(initial=0))), ends=ends)
    return job
