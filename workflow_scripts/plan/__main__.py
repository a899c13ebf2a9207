"""What a study will cost, and what it has cost: python -m workflow_scripts.plan TARGET --configfile presets/paper.yaml

TARGET is anything that Snakemake makes, by default everything. What is done is left out of the plan and set against
what it used. RATES is h200, cpu, or a file that `python -m bench.calibrate` wrote; by default results/rates.yaml where
there is one, else the H200's, and for the embedded study, which needs no GPU, those of a CPU.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from workflow_scripts.config import REPOSITORY, ConfigError, read_config
from workflow_scripts.plan import table
from workflow_scripts.plan.estimate import Estimator, cost
from workflow_scripts.plan.jobs import Cost, Job, dry_run, longest_chain, total
from workflow_scripts.plan.rates import Rates, load_rates
from workflow_scripts.plan.sizes import Sizes
from workflow_scripts.plan.used import covered, divided, gpu_spans, other_spans, unfinished, used_by
from workflow_scripts.study import Study, load_study
from xling.core.errors import XlingError, run
from xling.core.io import read_json

OWN_RATES = Path("results/rates.yaml")
CORES = "1024"  # of the machines that the study will run on: none of its jobs is to be scaled down to this one


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
    estimator = Estimator(study, rates, Sizes(study, rates))
    costs = {job.number: cost(estimator, job) for job in left}
    lines = [f"Plan of {study.config['study']['name']}, {target}, at the rates of {rates.device['name']}", ""]
    if left:
        every = total(one for one in costs.values() if one)
        seconds, jobs = longest_chain(left, {number: one or Cost() for number, one in costs.items()})
        lines += [*table.to_do(left, costs), "", *table.chain(seconds, jobs, costs, every)]
        lines += [*table.missing(left, costs), *_data(estimator.sizes, left)]
    else:
        lines += ["Nothing is left to do."]
    if finished:
        planned = {job.number: cost(estimator, job) for job in finished}
        used = {job.number: used_by(job, rates.gpu) for job in finished}
        lines += ["", "Done so far, planned against used, all attempts of a training run together:", ""]
        lines += table.done(finished, planned, used)
        held = [span for job in finished for span in gpu_spans(job, rates.gpu)]
        own = divided(held, other_spans(finished, rates.gpu))
        lines += table.shared(total(one for one in used.values() if one), covered(held), own)
    begun = unfinished((study.results / "work").glob("*"))
    if begun.seconds:
        lines += [f"in runs that are not finished: GPU {table.duration(begun.gpu)}, CPU {table.duration(begun.cpu)}"]
    return [*lines, "", "Assumptions:", *table.assumptions(rates)]


def _data(sizes: Sizes, left: list[Job]) -> list[str]:
    """Return what has to be known about data: sizes that nobody knows, and what the user has to supply."""
    datasets = [job.wildcards["dataset"] for job in left if job.rule == "fetch_dataset"]
    unknown = [path for name in datasets for path in sizes.download(name).unknown]
    supplied = [name for name in datasets if not sizes.has_address(name)]
    lines = [f"download size not known: {', '.join(unknown)}"] if unknown else []
    return lines + ([f"not downloaded, to be supplied: {', '.join(supplied)}"] if supplied else [])


def configuration(args: argparse.Namespace) -> dict[str, Any]:
    """Return the merged description of the study."""
    if args.config:
        return dict(read_json(args.config))
    try:
        return read_config(REPOSITORY / "config.yaml", *args.configfile)
    except ConfigError as error:
        raise XlingError("; ".join(error.problems)) from None


def main() -> None:
    """Print a plan."""
    args = parse_args()
    os.chdir(REPOSITORY)
    config = configuration(args)
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
    parser.add_argument("--config", type=Path, help="a JSON file of the whole description, instead of these")
    parser.add_argument("--rates", default="", help="h200, cpu, or a file of python -m bench.calibrate")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
