"""CKA of 10,000 sentences at nine layers, after encoding, against the same index in float64 one layer at a time.

    OMP_NUM_THREADS=2 python bench/cka.py --out bench/results/cka.json

The states lie in files as the encoders leave them, float16 with means far from zero; reading them is timed too.
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch

from xling.align.states import States, write_states
from xling.cka.compare_encoders import compare
from xling.core.io import write_json
from xling.core.seeds import numpy_rng
from xling.model.similarity import linear_cka

LIMITS = {256: 1.0, 768: 6.0}  # seconds on two CPU cores


def write_sides(folder: Path, sentences: int, layers: int, width: int) -> tuple[Path, Path]:
    """Write two encoders that share a part of every layer."""
    paths = folder / f"left{width}.safetensors", folder / f"right{width}.safetensors"
    shared = numpy_rng("bench cka", "shared", width).standard_normal((sentences, width), dtype=np.float32)
    for side, path in enumerate(paths):
        states = []
        for layer in range(layers):
            rng = numpy_rng("bench cka", side, layer, width)
            own = rng.standard_normal((sentences, width), dtype=np.float32)
            spread = np.exp(rng.normal(size=width)).astype(np.float32)  # a few directions dominate, as in real encoders
            states.append(((shared + 0.3 * layer * own) * spread + 5 * rng.normal(size=width)).astype(np.float16))
        write_states(path, states, {})
    return paths


def double_precision(left: Path, right: Path) -> list[float]:
    """Return the index of every layer, straight from the formula in float64."""
    scores = []
    sides = States(left), States(right)
    for layer in range(sides[0].layers):
        x, y = (side.read(layer).astype(np.float64) for side in sides)
        x, y = x - x.mean(axis=0), y - y.mean(axis=0)
        norms = np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)
        scores.append(float(np.linalg.norm(y.T @ x) ** 2 / norms))
    return scores


def layer_by_layer(left: Path, right: Path) -> list[float]:
    """Read and compare the same layers of both files."""
    sides = States(left), States(right)
    return [linear_cka(*(side.read(layer) for side in sides)) for layer in range(sides[0].layers)]


def measure(folder: Path, sentences: int, layers: int, width: int) -> dict[str, float]:
    """Return seconds, the ratio to float64, and the greatest error at one width."""
    paths = write_sides(folder, sentences, layers, width)
    layer_by_layer(*paths)  # the files come from memory for both
    start = time.monotonic()
    scores = layer_by_layer(*paths)
    middle = time.monotonic()
    exact = double_precision(*paths)
    end = time.monotonic()
    matrix = compare(*map(States, paths))
    last = time.monotonic()
    errors = [abs(scores[layer] - value) for layer, value in enumerate(exact)]
    errors += [abs(matrix[layer][layer] - value) for layer, value in enumerate(exact)]
    return {
        "seconds": middle - start,
        "float64_seconds": end - middle,
        "ratio_to_float64": (end - middle) / (middle - start),
        "whole_matrix_seconds": last - end,
        "greatest_error": max(errors),
        "limit_seconds": LIMITS[width],
    }


def machine() -> dict[str, object]:
    """Return what was measured on and with, and how busy it was."""
    versions = {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}
    return {"threads": torch.get_num_threads(), "load": os.getloadavg()[0], "versions": versions}


def main() -> None:
    """Measure both widths and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=10_000)
    parser.add_argument("--layers", type=int, default=9)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        widths = {width: measure(Path(name), args.sentences, args.layers, width) for width in LIMITS}
    made = {"date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "machine": machine()}
    write_json(args.out, {"sentences": args.sentences, "layers": args.layers, "widths": widths} | made)
    columns = list(widths[256])
    print("width" + "".join(f"{column.replace('_', ' '):>22}" for column in columns))
    for width, row in widths.items():
        print(f"{width:5}" + "".join(f"{row[column]:22.3g}" for column in columns))
    slow = [str(width) for width, row in widths.items() if row["seconds"] > row["limit_seconds"]]
    if slow:
        sys.exit(f"above the limit at width {', '.join(slow)}")


if __name__ == "__main__":
    main()
