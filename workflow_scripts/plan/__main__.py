"""What a study will cost, and what it has cost: python -m workflow_scripts.plan TARGET --configfile presets/paper.yaml

TARGET is anything that Snakemake makes, by default everything. What is done is left out of the plan and set against
what it used. RATES is h200 or cpu (rates.yaml); by default the H200's where there is a GPU, and those of a CPU where
there is none or the study needs none.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.config import REPOSITORY, read_config
from workflow_scripts.gpu_slots import devices
from workflow_scripts.plan.estimate import cost
from workflow_scripts.plan.jobs import Cost, Job, by_rule, lay_out, longest_chain, total
from workflow_scripts.plan.rates import Rates, load_rates
from workflow_scripts.plan.sizes import Sizes, manifest
from workflow_scripts.plan.used import covered, ran_on_gpu, unfinished, used_by
from workflow_scripts.study import Study, load_study
from xling.core.errors import run

GPUS = (1, 8, 32)


def choose_rates(asked: str, study: Study) -> Rates:
    """Return the rates that the user names, else those that fit study and machine."""
    return load_rates(asked or ("h200" if devices(os.environ) and not study.generated else "cpu"))


def report(study: Study, rates: Rates, jobs: Sequence[Job], target: str, assumptions: bool = False) -> list[str]:
    """Return the lines of a plan, totals first; the rates that it assumes are listed if asked for."""
    sizes = Sizes(study, rates)
    left, done = [job for job in jobs if job.left], [job for job in jobs if job.outputs and not job.left]
    lines = [f"Plan of {study.config['study']['name']}, {target}, at the rates of {rates.device['name']}"]
    lines += to_do(sizes, left) if any(job.outputs for job in left) else ["Nothing is left to do."]
    lines += ["", *planned_and_used(sizes, done)] if done else []
    begun = unfinished((study.results / "work").glob("*"))
    if begun.seconds:
        lines += [f"in runs that are not finished: GPU {duration(begun.gpu)}, CPU {duration(begun.cpu)}"]
    assumed = [
        [name.replace("device.", "device: "), f"{float(entry['value']):g}", entry["unit"], entry["source"]]
        for name, entry in sorted(rates.used.items())
    ]
    if not assumptions:
        return [*lines, "", f"assumed: {len(assumed)} rates (ASSUMPTIONS=1 lists them)"]
    return [*lines, "", "Assumptions:", *aligned(assumed, left=4)]


def to_do(sizes: Sizes, jobs: Sequence[Job]) -> list[str]:
    """Return what is left: in all, one line per rule, the longest chain, and what is not known.

    A rule without an estimate is listed, because its cost is not 0 but unknown.
    """
    costs = {job.number: cost(sizes, job) for job in jobs}
    rows, unknown = [["rule", "jobs", "GPU time", "CPU time", "disk", "download"]], []
    for rule, some in by_rule(jobs).items():
        known = all(costs[job.number] for job in some)
        amounts = _amounts(total(costs[job.number] for job in some)) if known else ["not estimated", *"---"]
        rows.append([rule, str(len(some)), *amounts])
        unknown += [] if known else [f"not estimated: {rule}, {len(some)} jobs"]
    every = total(costs.values())
    wall = {number: (known or Cost()).seconds for number, known in costs.items()}
    seconds, chain = longest_chain(jobs, wall)
    lines = [in_all(len(jobs), every, seconds), ""]
    lines += aligned([*rows, ["total", str(len(jobs)), *_amounts(every)]], ruled=True)
    lines += [f"besides, at most {size(every.passing)} of text until it has been read"] if every.passing else []
    lines += ["", f"longest chain: {duration(seconds)}"]
    for job in (job for job in chain if wall[job.number]):
        named = [value.strip(".") for value in job.wildcards.values() if value]  # a text in one piece has no shard
        name = f" ({'.'.join(named)})" if named else ""
        lines.append(f"    {duration(wall[job.number]):>9}  {job.rule}{name}")
    datasets = [job.wildcards["dataset"] for job in jobs if job.rule == "fetch_dataset"]
    told = {
        "download size not known": [path for name in datasets for path in sizes.download(name)[1]],
        "not downloaded, to be supplied": [name for name in datasets if manifest()[name].ask],
    }
    return lines + unknown + [f"{what}: {', '.join(names)}" for what, names in told.items() if names]


def in_all(jobs: int, every: Cost, chain: float) -> str:
    """Return the totals in one line, with the shortest time that they can take."""
    counts, what, used = (GPUS, "GPU", every.gpu) if every.gpu else ((os.cpu_count() or 1,), "core", every.cpu)
    times = [f"{n} {what}{'s' if n > 1 else ''} {duration(max(chain, used / n))}" for n in counts]
    amounts = zip(("GPU time", "CPU time", "disk", "download"), _amounts(every), strict=True)
    shown = ", ".join(f"{name} {amount}" for name, amount in amounts if amount != "-")
    return f"in all: {jobs} jobs{', ' if shown else ''}{shown}; at best, queueing aside: {', '.join(times)}"


def planned_and_used(sizes: Sizes, jobs: Sequence[Job]) -> list[str]:
    """Return what is done, planned against used; a job without a record counts on neither side."""
    rows = [["rule", "jobs", "recorded", "GPU time planned", "used", "CPU time planned", "used"]]
    on_gpu = ran_on_gpu(jobs, otherwise=bool(devices(os.environ)))
    records = {job.number: used_by(job, on_gpu) for job in jobs}
    both: list[tuple[Cost, Cost]] = []
    for rule, some in by_rule(jobs).items():
        recorded = [(cost(sizes, job), records[job.number]) for job in some if records[job.number]]
        known = [(planned, total(used for _, used in record)) for planned, record in recorded if planned]
        rows += [[rule, str(len(some)), str(len(known)), *_sides(known)]] if known else []
        both += known
    lines = ["Done so far, planned against used, all attempts of a training run together:", ""]
    lines += aligned([*rows, ["total", str(len(jobs)), "", *_sides(both)]], ruled=True)
    every = [attempt for record in records.values() for attempt in record]
    held, wall = total(used for _, used in every).gpu, covered(every)
    return lines + ([f"jobs held GPUs for {duration(wall)} of wall time, {held / wall:.1f} at once"] if wall else [])


def _amounts(cost: Cost) -> list[str]:
    return [duration(cost.gpu), duration(cost.cpu), size(cost.disk), size(cost.download)]


def _sides(both: Sequence[tuple[Cost, Cost]]) -> list[str]:
    planned, used = (total(pair[side] for pair in both) for side in (0, 1))
    return [duration(seconds) for seconds in (planned.gpu, used.gpu, planned.cpu, used.cpu)]


def aligned(rows: Sequence[Sequence[str]], left: int = 1, ruled: bool = False) -> list[str]:
    """Return a table as text, its first columns to the left; `ruled`: with lines below its head and above its total."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [f"{cell:{'<' if i < left else '>'}{widths[i]}}" for i, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    rule = "-" * max(map(len, lines), default=0)
    return [lines[0], rule, *lines[1:-1], rule, lines[-1]] if ruled else lines


def duration(seconds: float) -> str:
    """Return seconds in the unit that fits; hours are never made days, because allocations are counted in hours."""
    for unit, name in ((3600, "h"), (60, "min")):
        if seconds >= unit:
            value = seconds / unit
            return f"{value:,.0f} {name}" if value >= 100 else f"{value:.1f} {name}"
    return f"{seconds:.1f} s" if seconds else "-"


def size(count: float) -> str:
    """Return bytes in the unit that fits."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count / 1e3:.3g} kB" if count else "-"


def main() -> None:
    """Print a plan."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="*")
    parser.add_argument("--configfile", nargs="+", type=lambda text: Path(text).resolve(), default=[])
    parser.add_argument("--assumptions", action="store_true", help="list the rates behind the estimates")
    parser.add_argument("--rates", default="", help="a device of rates.yaml: h200, cpu")
    args = parser.parse_args()
    os.chdir(REPOSITORY)
    config = read_config(REPOSITORY / "config.yaml", *args.configfile)
    study, jobs = load_study(config), lay_out(config, args.target)
    target = f"target {' '.join(args.target)}" if args.target else "everything"
    print("\n".join(report(study, choose_rates(args.rates, study), jobs, target, args.assumptions)))


if __name__ == "__main__":
    run(main)
