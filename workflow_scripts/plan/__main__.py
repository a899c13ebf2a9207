"""What a study will cost, and what it has cost: python -m workflow_scripts.plan TARGET --configfile presets/paper.yaml

TARGET is anything that Snakemake makes, by default everything. What is done is left out of the plan and set against
what it used. RATES is h200, cpu, or a file that `python -m bench.calibrate` wrote; by default results/rates.yaml where
there is one, else the H200's, and for the embedded study, which needs no GPU, those of a CPU.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.config import REPOSITORY, ConfigError, read_config
from workflow_scripts.plan.estimate import Estimator, cost, manifest
from workflow_scripts.plan.jobs import Cost, Job, by_rule, dry_run, longest_chain, total
from workflow_scripts.plan.rates import Rates, load_rates
from workflow_scripts.plan.used import covered, gpu_spans, unfinished, used_by
from workflow_scripts.study import Study, load_study
from xling.core.errors import XlingError, run

OWN_RATES = Path("results/rates.yaml")
CORES = "1024"  # of the machines that the study will run on: none of its jobs is to be scaled down to this one
GPUS = (1, 8, 32)


def choose_rates(asked: str, study: Study) -> Rates:
    """Return the rates that the user names, else the user's own, else the committed ones that fit the study."""
    if asked:
        return load_rates(asked)
    if OWN_RATES.is_file():
        return load_rates(str(OWN_RATES))
    return load_rates("cpu" if study.generated else "h200")


def lay_out(arguments: list[str], study: Study) -> tuple[list[Job], list[Job]]:
    """Return the jobs that are left and those that are done; a study that has no file yet is asked for once."""
    left = dry_run(arguments)
    if not study.results.is_dir():
        return left, []
    made = {path for job in left for path in job.outputs}
    whole = dry_run([*arguments, "--forceall"])
    return left, [job for job in whole if job.outputs and not made.intersection(job.outputs)]


def report(study: Study, rates: Rates, left: list[Job], finished: list[Job], target: str) -> list[str]:
    """Return the lines of a plan."""
    plan = Estimator(study, rates)
    lines = [f"Plan of {study.config['study']['name']}, {target}, at the rates of {rates.device['name']}", ""]
    lines += to_do(plan, left) if left else ["Nothing is left to do."]
    lines += ["", *done(plan, finished)] if finished else []
    begun = unfinished((study.results / "work").glob("*"))
    if begun.seconds:
        lines += [f"in runs that are not finished: GPU {duration(begun.gpu)}, CPU {duration(begun.cpu)}"]
    assumed = [
        [name.replace("device.", "device: "), f"{float(entry['value']):g}", entry["unit"], entry["source"]]
        for name, entry in sorted(rates.used.items())
    ]
    return [*lines, "", "Assumptions:", *aligned(assumed, left=4)]


def to_do(plan: Estimator, jobs: list[Job]) -> list[str]:
    """Return what is left: one line per rule, the longest chain, and what is not known.

    A rule without an estimate is listed, because its cost is not 0 but unknown.
    """
    costs = {job.number: cost(plan, job) for job in jobs}
    rows, unknown = [["rule", "jobs", "GPU time", "CPU time", "disk", "download"]], []
    for rule, some in by_rule(jobs).items():
        if any(costs[job.number] is None for job in some):
            unknown.append(f"not estimated: {rule}, {len(some)} jobs")
            rows.append([rule, str(len(some)), "not estimated", *"---"])
        else:
            rows.append([rule, str(len(some)), *_amounts(total(costs[job.number] for job in some))])
    every = total(costs.values())
    lines = aligned([*rows, ["total", str(len(jobs)), *_amounts(every)]], ruled=True)
    wall = {number: (known or Cost()).seconds for number, known in costs.items()}
    seconds, chain = longest_chain(jobs, wall)
    lines += ["", f"longest chain: {duration(seconds)}"]
    for job in chain:
        named = [value.strip(".") for value in job.wildcards.values() if value]  # a text in one piece has no shard
        name = f" ({'.'.join(named)})" if named else ""
        lines += [f"    {duration(wall[job.number]):>9}  {job.rule}{name}"] if wall[job.number] else []
    if every.gpu:
        times = [f"{count} GPU{'s' if count > 1 else ''} {duration(max(seconds, every.gpu / count))}" for count in GPUS]
        lines.append(f"at best, queueing aside: {', '.join(times)}")
    datasets = [job.wildcards["dataset"] for job in jobs if job.rule == "fetch_dataset"]
    sizes = [path for name in datasets for path in plan.download(name)[1]]
    supplied = [name for name in datasets if manifest()[name].ask]
    lines += [*unknown, *([f"download size not known: {', '.join(sizes)}"] if sizes else [])]
    return lines + ([f"not downloaded, to be supplied: {', '.join(supplied)}"] if supplied else [])


def done(plan: Estimator, jobs: list[Job]) -> list[str]:
    """Return what is done, planned against used; a job without a record counts on neither side."""
    rows = [["rule", "jobs", "recorded", "GPU time planned", "used", "CPU time planned", "used"]]
    both: list[tuple[Cost, Cost]] = []
    for rule, some in by_rule(jobs).items():
        pairs = [(cost(plan, job), used_by(job, plan.rates.gpu)) for job in some]
        known = [(planned, used) for planned, used in pairs if planned and used]
        rows += [[rule, str(len(some)), str(len(known)), *_sides(known)]] if known else []
        both += known
    lines = ["Done so far, planned against used, all attempts of a training run together:", ""]
    lines += aligned([*rows, ["total", str(len(jobs)), "", *_sides(both)]], ruled=True)
    held = total(used_by(job, plan.rates.gpu) for job in jobs).gpu
    wall = covered(span for job in jobs for span in gpu_spans(job, plan.rates.gpu))
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
    args = parse_args()
    os.chdir(REPOSITORY)
    try:
        config = read_config(REPOSITORY / "config.yaml", *args.configfile)
    except ConfigError as error:
        raise XlingError("; ".join(error.problems)) from None
    study = load_study(config)
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as merged:
        json.dump(config, merged)
        merged.flush()
        left, finished = lay_out([*args.target, "--cores", CORES, "--configfile", merged.name], study)
    target = f"target {' '.join(args.target)}" if args.target else "everything"
    print("\n".join(report(study, choose_rates(args.rates, study), left, finished, target)))


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="*")
    parser.add_argument("--configfile", nargs="+", type=lambda text: Path(text).resolve(), default=[])
    parser.add_argument("--rates", default="", help="h200, cpu, or a file of python -m bench.calibrate")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
