"""Estimate the cost of a study: python -m workflow_scripts.plan TARGET --configfile presets/paper.yaml

TARGET is any Snakemake target, by default everything. Finished jobs are not part of the plan; their estimate is shown
beside the time that they used. RATES is h200, cpu, or a file written by `python -m bench.calibrate`. The default is
results/rates.yaml if it exists; otherwise h200 if there is a GPU and the data is not generated, and cpu if not.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.config import REPOSITORY, read_config
from workflow_scripts.gpu_slots import devices
from workflow_scripts.plan.estimate import cost
from workflow_scripts.plan.jobs import Cost, Job, lay_out, longest_chain, ran_on_gpu, unfinished, used_by
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
    sums = summed(jobs, costs)
    every = sums.loc["total"]
    wall = {job.number: one.seconds for job, one in zip(jobs, costs, strict=True) if one.seconds > 0}
    seconds, chain = longest_chain(jobs, wall)
    lines = [in_all(every, shown(sums).loc["total"], seconds), "", *table(shown(sums))]
    lines += [f"besides, at most {size(every.passing)} of text until it has been read"] if every.passing else []
    lines += ["", f"longest chain: {duration(seconds)}"]
    for job in (job for job in chain if job.number in wall):
        named = [value.strip(".") for value in job.wildcards.values() if value]  # a text that is not split has no shard
        name = f" ({'.'.join(named)})" if named else ""
        lines.append(f"    {duration(wall[job.number]):>9}  {job.rule}{name}")
    datasets = [job.wildcards["dataset"] for job in jobs if job.rule == "fetch_dataset"]
    told = {
        "not estimated": [f"{rule}, {row.jobs:.0f} jobs" for rule, row in sums.iterrows() if row.isna().any()],
        "download size not known": [path for name in datasets for path in sizes.download(name)[1]],
        "not downloaded, to be supplied": [name for name in datasets if manifest()[name].ask],
    }
    return lines + [f"{what}: {', '.join(names)}" for what, names in told.items() if names]


def summed(jobs: Sequence[Job], costs: Sequence[Cost]) -> pd.DataFrame:
    """Return the number of jobs and the costs of each rule, after the rules that it depends on, and of all jobs.

    The jobs are in order. The cost of a rule with an unknown cost is NaN; the total leaves unknown costs out.
    """
    every = pd.DataFrame(costs, [job.rule for job in jobs], Cost._fields, dtype=float)
    rules = every[::-1].groupby(level=0, sort=False)
    sums = rules.agg(lambda costs: costs.sum(skipna=False))[::-1]
    sums.loc["total"] = every.sum()
    return sums.assign(jobs=[*rules.size()[::-1], len(jobs)])


def shown(sums: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a plan as text."""
    times = {"GPU time": sums.gpu.map(duration), "CPU time": sums.cpu.map(duration)}
    return pd.DataFrame({"jobs": sums.jobs} | times | {key: sums[key].map(size) for key in ("disk", "download")})


def table(frame: pd.DataFrame) -> list[str]:
    """Return the lines of a text table; the head becomes a row, so that all columns are two spaces apart."""
    rows = frame.T.reset_index().T.rename({"index": ""})
    return list(rows.to_string(header=False).splitlines())


def in_all(every: Any, told: Any, chain: float) -> str:
    """Return the totals, which `told` has as text, in one line, with the shortest possible run time."""
    counts, what, used = (GPUS, "GPU", every.gpu) if every.gpu else ((os.cpu_count() or 1,), "core", every.cpu)
    times = [f"{n} {what}{'s' if n > 1 else ''} {duration(max(chain, used / n))}" for n in counts]
    amounts = [f"{name} {amount}" for name, amount in told.drop("jobs").items() if amount != "-"]
    return f"in all: {', '.join([f'{told.jobs} jobs', *amounts])}; at best, queueing aside: {', '.join(times)}"


def planned_and_used(sizes: Sizes, jobs: Sequence[Job]) -> list[str]:
    """Return the planned and used time of finished jobs; jobs without a record or an estimate are left out."""
    on_gpu = ran_on_gpu(jobs, otherwise=bool(devices(os.environ)))
    rows = [(job, cost(sizes, job), used_by(job, on_gpu)) for job in jobs]
    known = [(job, planned, used) for job, planned, used in rows if used and planned.seconds >= 0]
    recorded = [job for job, _, _ in known]
    sides = [summed(recorded, costs) for costs in ([one for _, one, _ in known], [one for _, _, one in known])]
    times = [side[key].map(duration) for key in ("gpu", "cpu") for side in sides]
    columns = ["jobs", "GPU time planned", "used", "CPU time planned", "used"]
    both = pd.concat([sides[0].jobs, *times], axis=1).set_axis(columns, axis=1)
    head = f"Done so far, planned against used, all attempts of a training together ({len(known)} of {len(jobs)} jobs):"
    return [head, "", *table(both)]


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
