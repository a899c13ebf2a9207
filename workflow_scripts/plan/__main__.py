"""Estimate the cost of a study: python -m workflow_scripts.plan TARGET --configfile presets/paper.yaml

TARGET is any Snakemake target, by default everything. Finished jobs are not part of the plan; their estimate is shown
beside the time that they used. RATES is h200, cpu, or a file written by `python -m bench.calibrate`. The default is
results/rates.yaml if it exists; otherwise h200 if there is a GPU and the data is not generated, and cpu if not.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from workflow_scripts.config import REPOSITORY, read_config
from workflow_scripts.gpu_slots import devices
from workflow_scripts.plan.estimate import cost
from workflow_scripts.plan.jobs import UNKNOWN, Cost, Job, lay_out, longest_chain, total, unfinished, used_by
from workflow_scripts.plan.sizes import Rates, Sizes, load_rates, manifest
from workflow_scripts.study import Study, load_study
from xling.core.errors import run

OWN_RATES = Path("results/rates.yaml")
GPUS = (1, 8, 32)
TIMES = ((3600, "h"), (60, "min"), (1, "s"))
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def choose_rates(asked: str, study: Study) -> Rates:
    """Return the rates that are asked for, or the user's own, or the committed rates for this study and machine."""
    own = str(OWN_RATES) if OWN_RATES.is_file() else ""
    return load_rates(asked or own or ("h200" if devices(os.environ) and not study.generated else "cpu"))


def report(study: Study, rates: Rates, jobs: Sequence[Job], target: str, assumptions: bool = False) -> list[str]:
    """Return the lines of a plan, totals first; `assumptions` adds the list of the rates used."""
    sizes = Sizes(study, rates)
    left, done = [job for job in jobs if job.left], [job for job in jobs if job.outputs and not job.left]
    lines = [f"Plan of {study.config['study']['name']}, {target}, at the rates of {rates.device['name']}"]
    lines += to_do(sizes, left) if any(job.outputs for job in left) else ["Nothing is left to do."]
    lines += ["", *planned_and_used(sizes, done)] if done else []
    begun = unfinished(study.results / "work")
    if begun.seconds:
        lines += [f"in runs that are not finished: GPU {duration(begun.gpu)}, CPU {duration(begun.cpu)}"]
    if not assumptions:
        hint = "ASSUMPTIONS=1 lists them; make calibrate measures yours"
        return [*lines, "", f"assumed: {len(rates.used)} rates ({hint})"]
    used = sorted(rates.used.items())
    assumed = [f"  {name}: {float(entry['value']):g} {entry['unit']} ({entry['source']})" for name, entry in used]
    return [*lines, "", "Assumptions:", *assumed]


def to_do(sizes: Sizes, jobs: Sequence[Job]) -> list[str]:
    """Return the lines for unfinished jobs: totals, one line per rule, the longest chain, and unknown costs."""
    costs = [cost(sizes, job) for job in jobs]
    rules, every = by_rule(jobs, costs), total(one for one in costs if one is not UNKNOWN)
    wall = {job.number: one.seconds for job, one in zip(jobs, costs, strict=True) if one.seconds > 0}
    seconds, chain = longest_chain(jobs, wall)
    rows = {rule: [str(len(some)), *amounts(total(some)).values()] for rule, some in rules.items()}
    rows |= {"total": [str(len(jobs)), *amounts(every).values()]}
    lines = [in_all(len(jobs), every, seconds), "", *table(["jobs", *amounts(every)], rows)]
    lines += [f"besides, at most {size(every.passing)} of text until it has been read"] if every.passing else []
    lines += ["", f"longest chain: {duration(seconds)}"]
    for job in (job for job in chain if job.number in wall):
        named = [value.strip(".") for value in job.wildcards.values() if value]  # a text that is not split has no shard
        name = f" ({'.'.join(named)})" if named else ""
        lines.append(f"    {duration(wall[job.number]):>9}  {job.rule}{name}")
    datasets = dict.fromkeys(job.wildcards["dataset"] for job in jobs if job.rule == "fetch_dataset")
    told = {
        "not estimated": [f"{rule}, {len(some)} jobs" for rule, some in rules.items() if UNKNOWN in some],
        "download size not known": [path for name in datasets for path in sizes.download(name)[1]],
        "not downloaded, to be supplied": [name for name in datasets if manifest()[name].ask],
    }
    return lines + [f"{what}: {', '.join(names)}" for what, names in told.items() if names]


def by_rule(jobs: Sequence[Job], costs: Sequence[Cost]) -> dict[str, list[Cost]]:
    """Return the costs of ordered jobs by rule; each rule comes after the rules that it depends on."""
    found: dict[str, list[Cost]] = {}
    for job, one in reversed(list(zip(jobs, costs, strict=True))):
        found.setdefault(job.rule, []).append(one)
    return dict(reversed(found.items()))


def amounts(cost: Cost) -> dict[str, str]:
    """Return the amounts of a cost as text, by column of the plan."""
    times = {"GPU time": duration(cost.gpu), "CPU time": duration(cost.cpu)}
    return times | {"disk": size(cost.disk), "download": size(cost.download)}


def table(head: Sequence[str], rows: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the lines of a text table with the row names on the left."""
    lines = [["", *head], *([name, *cells] for name, cells in rows.items())]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [[cell.rjust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    return ["  ".join([line[0].ljust(widths[0]), *cells[1:]]) for line, cells in zip(lines, padded, strict=True)]


def in_all(jobs: int, every: Cost, chain: float) -> str:
    """Return the totals in one line, with the shortest possible run time."""
    counts, what, used = (GPUS, "GPU", every.gpu) if every.gpu else ((os.cpu_count() or 1,), "core", every.cpu)
    times = [f"{n} {what}{'s' if n > 1 else ''} {duration(max(chain, used / n))}" for n in counts]
    shown = [f"{jobs} jobs", *(f"{name} {amount}" for name, amount in amounts(every).items() if amount != "-")]
    return f"in all: {', '.join(shown)}; at best, queueing aside: {', '.join(times)}"


def planned_and_used(sizes: Sizes, jobs: Sequence[Job]) -> list[str]:
    """Return the planned and used time of finished jobs; jobs without a record or an estimate are left out."""
    costs = [cost(sizes, job) for job in jobs]
    both = zip(jobs, costs, used_by(jobs, bool(devices(os.environ))), strict=True)
    known = [(job, planned, used) for job, planned, used in both if used and planned is not UNKNOWN]
    planned, used = (
        by_rule([job for job, *_ in known], side) | {"total": side}
        for side in ([one for _, one, _ in known], [one for *_, one in known])
    )
    rows = {rule: [str(len(some)), *_sides(total(planned[rule]), total(some))] for rule, some in used.items()}
    head = f"Done so far, planned against used, all attempts of a training together ({len(known)} of {len(jobs)} jobs):"
    return [head, "", *table(["jobs", "GPU time planned", "used", "CPU time planned", "used"], rows)]


def _sides(planned: Cost, used: Cost) -> list[str]:
    return [duration(seconds) for seconds in (planned.gpu, used.gpu, planned.cpu, used.cpu)]


def duration(seconds: float) -> str:
    """Return seconds in a suitable unit; the largest is hours, because allocations are counted in hours."""
    value, unit = next(((seconds / unit, name) for unit, name in TIMES if seconds >= unit), (seconds, "s"))
    return _shown(seconds, f"{value:,.{0 if value >= 100 else 1}f} {unit}")


def size(count: float) -> str:
    """Return bytes in a suitable unit."""
    value, unit = next(((count / unit, name) for unit, name in SIZES if count >= unit), (count / 1e3, "kB"))
    return _shown(count, f"{value:.3g} {unit}")


def _shown(amount: float, text: str) -> str:
    """Return the text of an amount, or a dash for zero and a question mark for NaN (unknown)."""
    return text if amount > 0 else "-" if amount == 0 else "?"


def main() -> None:
    """Print a plan."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="*")
    parser.add_argument("--configfile", nargs="+", type=lambda text: Path(text).resolve(), default=[])
    parser.add_argument("--assumptions", action="store_true", help="list the rates behind the estimates")
    parser.add_argument("--rates", default="", help="h200, cpu, or a file of python -m bench.calibrate")
    args = parser.parse_args()
    os.chdir(REPOSITORY)
    config = read_config(REPOSITORY / "config.yaml", *args.configfile)
    study, jobs = load_study(config), lay_out(config, args.target)
    target = f"target {' '.join(args.target)}" if args.target else "everything"
    print("\n".join(report(study, choose_rates(args.rates, study), jobs, target, args.assumptions)))


if __name__ == "__main__":
    run(main)
