"""CSLS retrieval of every source word among all target words, against faiss and a blocked numpy route.

    python bench/csls.py --out bench/results/csls-cpu.json                  # 50,000 x 50,000 x 300 on the CPU
    python bench/csls.py --device cuda --rows 200000 --width 768 --out …    # one GPU, 16-bit shortlists against float32

The vectors are clustered words and a noisy rotation of them, so that there are hubs. Every route runs in its own
process and is timed from vectors in memory to the ten best of every query. The peers compute the formula as it stands,
both neighbourhood means and the search; what they would need without r_T, which cannot change the result, is told too.
faiss is installed for this benchmark alone: pip install faiss-cpu.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from xling.align import search
from xling.align.mapping import unit_length
from xling.align.search import NEIGHBOURS, csls_search
from xling.core.io import write_json
from xling.core.seeds import numpy_rng

K = 10
LIMIT_MEGABYTES = 2048
LIMIT_GPU_SECONDS = 10.0
WANTED_RATIO = 1.3
BLOCK = 1024
Array = np.ndarray[Any, Any]
Route = dict[str, Any]
Phases = dict[str, float]


def make_vectors(folder: Path, rows: int, width: int) -> None:
    """Write both sides: words around cluster centres of very different size, and their noisy rotation."""
    rng = numpy_rng("bench csls", rows, width)
    centres = rng.standard_normal((500, width), dtype=np.float32)
    owner = (500 * rng.random(rows) ** 2).astype(int)
    source = 0.5 * centres[owner] + rng.standard_normal((rows, width), dtype=np.float32)
    rotation = np.linalg.qr(rng.standard_normal((width, width)))[0].astype(np.float32)
    target = source @ rotation + 0.7 * rng.standard_normal((rows, width), dtype=np.float32)
    np.save(folder / "source.npy", unit_length(source) @ rotation)
    np.save(folder / "target.npy", unit_length(target))


def timed(phases: Phases, name: str, work: Callable[[], Array]) -> Array:
    """Run some work and note its seconds."""
    start = time.monotonic()
    result = work()
    phases[name] = time.monotonic() - start
    return result


def xling_route(source: Array, target: Array, phases: Phases, device: str) -> Array:
    """Search as the package does."""
    return timed(phases, "all", lambda: csls_search(source, target, K, device=device).indices)


def float32_route(source: Array, target: Array, phases: Phases, device: str) -> Array:
    """Search as the package does where 16-bit products are not fast."""
    setattr(search, "fast_half", lambda *_: None)  # noqa: B010
    return xling_route(source, target, phases, device)


def numpy_route(source: Array, target: Array, phases: Phases, _: str) -> Array:
    """Follow the formula block by block with BLAS and partial sorting."""

    def means(x: Array, y: Array) -> Array:
        parts = (x[i : i + BLOCK] @ y.T for i in range(0, len(x), BLOCK))
        return np.concatenate([np.partition(part, -NEIGHBOURS)[:, -NEIGHBOURS:].mean(axis=1) for part in parts])

    def best(part: slice) -> Array:
        scores = 2 * (source[part] @ target.T) - r_target[part][:, None] - r_source
        some = np.argpartition(scores, -K)[:, -K:]
        order = np.argsort(-np.take_along_axis(scores, some, 1), axis=1)
        return np.take_along_axis(some, order, 1)

    r_source = timed(phases, "r_S", lambda: means(target, source))
    r_target = timed(phases, "r_T", lambda: means(source, target))
    slices = [slice(i, i + BLOCK) for i in range(0, len(source), BLOCK)]
    return timed(phases, "search", lambda: np.concatenate([best(part) for part in slices]))


def faiss_route(source: Array, target: Array, phases: Phases, _: str) -> Array:
    """Three searches of a flat index; r_S is one more column in the last."""
    import faiss

    def best(x: Array, y: Array) -> tuple[Array, Array]:
        index = faiss.IndexFlatIP(x.shape[1])
        index.add(y)
        scores, places = index.search(x, K)
        return scores, places

    r_source = timed(phases, "r_S", lambda: best(target, source)[0].mean(axis=1))
    timed(phases, "r_T", lambda: best(source, target)[0].mean(axis=1))
    x = np.hstack([source, np.ones((len(source), 1), np.float32)])
    y = np.hstack([target, -r_source[:, None] / 2])
    return timed(phases, "search", lambda: best(x, y)[1])


ROUTES: dict[str, Callable[[Array, Array, Phases, str], Array]] = {
    "xling": xling_route,
    "xling float32": float32_route,
    "numpy": numpy_route,
    "faiss": faiss_route,
}


def run_route(name: str, folder: Path, device: str) -> None:
    """Run one route in this process and leave its result and what it cost in the folder."""
    source, target = np.load(folder / "source.npy"), np.load(folder / "target.npy")
    if device != "cpu":
        csls_search(source[:2000], target[:2000], K, device=device)  # the first call starts the GPU's libraries
    phases: Phases = {}
    indices = ROUTES[name](source, target, phases, device)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    np.save(folder / f"{name}.npy", indices)
    cost = {"seconds": sum(phases.values()), "phases": phases, "peak_megabytes": peak}
    (folder / f"{name}.json").write_text(json.dumps(cost))


def disagreement(folder: Path, name: str) -> dict[str, float]:
    """Return the share of places where a route differs from ours, and by how much at most in cosine - r_S / 2."""
    source, target = np.load(folder / "source.npy"), np.load(folder / "target.npy")
    ours, theirs = np.load(folder / "xling.npy"), np.load(folder / f"{name}.npy")
    rows, places = np.nonzero(ours != theirs)
    if not len(rows):
        return {"share": 0.0, "greatest": 0.0}
    used = np.unique(np.concatenate([ours[rows, places], theirs[rows, places]]))
    nearest = [-np.sort(-(source @ target[index]))[:NEIGHBOURS].mean(dtype=np.float64) for index in used]
    r_source = dict(zip(used.tolist(), nearest, strict=True))

    def score(row: int, index: int) -> float:
        return float(source[row].astype(np.float64) @ target[index] - r_source[index] / 2)

    pairs = zip(rows.tolist(), places.tolist(), strict=True)
    gaps = [abs(score(row, int(ours[row, at])) - score(row, int(theirs[row, at]))) for row, at in pairs]
    return {"share": len(rows) / ours.size, "greatest": max(gaps)}


def main() -> None:
    """Measure the routes one after the other and print a table."""
    args = parse_args()
    if args.route:
        run_route(args.route, args.folder, args.device)
        return
    names = ["xling", "xling float32"] + (["numpy"] + ["faiss"] * bool(find_spec("faiss"))) * (args.device == "cpu")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_vectors(folder, args.rows, args.width)
        routes = {route: measure(route, folder, args.device) for route in names}
    write_json(args.out, summary(routes, args))
    print(table(routes))
    judge(routes, args.device)


def measure(route: str, folder: Path, device: str) -> Route:
    """Run a route in a process of its own and compare what it found."""
    command = [sys.executable, __file__, "--route", route, "--folder", str(folder), "--device", device]
    subprocess.run(command, check=True)
    cost: Route = json.loads((folder / f"{route}.json").read_text())
    return cost | {"differs": disagreement(folder, route)}


def without_r_target(route: Route) -> float:
    """Return the seconds of a route less its pass for r_T."""
    return float(route["seconds"] - route["phases"].get("r_T", 0.0))


def summary(routes: dict[str, Route], args: argparse.Namespace) -> dict[str, object]:
    """Return what the result file says."""
    peers = [route for name, route in routes.items() if not name.startswith("xling")]
    ours = routes["xling"]["seconds"]
    ratios = {}
    if peers:
        ratios["ratio_to_faster_peer"] = min(peer["seconds"] for peer in peers) / ours
        ratios["ratio_to_faster_peer_without_r_T"] = min(map(without_r_target, peers)) / ours
        ratios["ratio_float32_only"] = min(peer["seconds"] for peer in peers) / routes["xling float32"]["seconds"]
    amx = bool(torch.cpu.get_capabilities().get("amx_bf16"))
    machine = {"device": args.device, "threads": torch.get_num_threads(), "amx": amx, "load": os.getloadavg()[0]}
    made = {"date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "versions": versions()}
    return {"rows": args.rows, "width": args.width, "routes": routes, "machine": machine} | ratios | made


def versions() -> dict[str, str]:
    """Return what was measured with."""
    names = ["torch", "numpy"] + ["faiss-cpu"] * bool(find_spec("faiss"))
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in names}


def table(routes: dict[str, Route]) -> str:
    """Return the routes with their costs, a line each."""
    lines = [f"{'route':16}{'seconds':>10}{'less r_T':>10}{'peak MB':>10}{'differs':>12}{'by at most':>12}"]
    for name, route in routes.items():
        costs = f"{route['seconds']:10.2f}{without_r_target(route):10.2f}{route['peak_megabytes']:10.0f}"
        lines.append(f"{name:16}{costs}{route['differs']['share']:12.2e}{route['differs']['greatest']:12.1e}")
    return "\n".join(lines)


def judge(routes: dict[str, Route], device: str) -> None:
    """End with an error where the result is not what was promised."""
    ours = routes["xling"]
    peers = [route["seconds"] for name, route in routes.items() if not name.startswith("xling")]
    if max(route["differs"]["greatest"] for route in routes.values()) > 1e-6:
        sys.exit("the routes differ by more than ties")
    if device == "cpu" and ours["peak_megabytes"] > LIMIT_MEGABYTES:
        sys.exit(f"peak of {ours['peak_megabytes']:.0f} MB is above {LIMIT_MEGABYTES} MB")
    if peers and min(peers) < WANTED_RATIO * ours["seconds"]:
        sys.exit(f"not {WANTED_RATIO} times as fast as the faster peer")
    if device != "cpu" and ours["seconds"] > LIMIT_GPU_SECONDS:
        sys.exit(f"{ours['seconds']:.1f} s is above {LIMIT_GPU_SECONDS} s")


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--width", type=int, default=300)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--route", choices=ROUTES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if not (args.out or args.route):
        parser.error("--out is needed")
    return args


if __name__ == "__main__":
    main()
