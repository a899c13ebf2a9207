"""The form in which the results of a finished study are kept: lines of a few files in place of many small ones.

models.jsonl has a line for each encoder (`run`, and `provenance` where it was trained), transfer.jsonl one for each
score of Table 1, contextual.jsonl one for each job of Figures 5 and 8. The counts of a job's test sentences are in
contextual/JOB.npz: `items` has the numbers of their columns there. Nothing is lost: `restore` writes the files again.

python -m xling.report.kept KEPT --out FOLDER
"""

import argparse
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from xling.core.errors import InputError, run
from xling.core.io import atomic_path, read_json, read_lines, write_json, write_text

Line = dict[str, Any]
Items = dict[str, Any]  # of a test set: its columns by name


def pack(results: Path, out: Path) -> None:
    """Write what the jobs of a study found, in the kept form."""
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


def restore(kept: Path, out: Path) -> None:
    """Write the files of a kept study again, each where its job wrote it."""
    for line in read_jsonl(kept / "models.jsonl"):
        trained = "provenance" in line
        folder = out / ("models" if trained else "transfer") / line["model"]
        write_json(folder / "run.json", line["run"])
        if trained:
            write_json(folder / "provenance.json", line["provenance"])
    for line in read_jsonl(kept / "transfer.jsonl"):
        write_json(out / "transfer" / line["model"] / f"{line['task']}.json", line)
    for line in read_jsonl(kept / "contextual.jsonl"):
        write_json(out / "contextual" / f"{line['model']}.json", _unpack_counts(line, kept))


def read_jsonl(path: Path) -> Iterator[Line]:
    """Yield the objects of a file that has one per line; a file that is not there has none."""
    for number, text in enumerate(read_lines(path) if path.exists() else [], 1):
        try:
            yield json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(path, f"not JSON: {error.msg}", line=number) from None


def _pack_counts(job: Line, out: Path) -> Line:
    """Write the counts of a job, each distinct column once, and return the job with their numbers in place of them."""
    columns: dict[str, int] = {}
    line = _with_items(job, lambda items: {n: columns.setdefault(text, len(columns)) for n, text in items.items()})
    arrays = [np.array(text.split(), dtype=np.int64) for text in columns]
    if arrays:
        counts, ends = np.concatenate(arrays), np.cumsum([len(column) for column in arrays])
        with atomic_path(out / f"contextual/{job['model']}.npz") as path, path.open("wb") as handle:
            np.savez_compressed(handle, counts=counts.astype(np.min_scalar_type(counts.max(initial=0))), ends=ends)
    return line


def _unpack_counts(line: Line, kept: Path) -> Line:
    path = kept / f"contextual/{line['model']}.npz"
    if not path.exists():
        return line
    with np.load(path) as arrays:
        columns = np.split(arrays["counts"], arrays["ends"][:-1])
    return _with_items(line, lambda items: {n: " ".join(map(str, columns[number])) for n, number in items.items()})


def _with_items(job: Line, change: Callable[[Items], Items]) -> Line:
    """Return a job's result with other `items` in each of its scores."""
    made = deepcopy(job)
    for training in made.get("trainings", []):
        for score in training["scores"].values():
            score["items"] = change(score["items"])
    return made


def main() -> None:
    """Write the files of a kept study again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kept", type=Path, help="folder of a kept study")
    parser.add_argument("--out", type=Path, required=True, help="folder for its models, transfer and contextual")
    args = parser.parse_args()
    restore(args.kept, args.out)


if __name__ == "__main__":
    run(main)
