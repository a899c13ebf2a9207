"""How long the models of an embedded study train on two cores: two processes of one thread.

    python -m bench.embedded --preset presets/demo-full.yaml --folder DIR --out bench/results/embedded-demo-full.json

Makes the data and trains every model of the study through the workflow, below --folder, then reads what the models say
of themselves: from the start of the first training to the end of the last, and each one's validation loss as a share of
the unigram entropy (1 is what knowing how frequent each subword is gives).
"""

import argparse
import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from workflow_scripts.config import read_config
from workflow_scripts.study import Study
from xling.core.io import read_json, read_lines, write_json
from xling.pretrain.record import utc

ROOT = Path(__file__).resolve().parents[1]


def train(study: Study, files: list[Path], cores: int) -> None:
    """Make every trained model of a study."""
    models = [str(study.results / "models" / name / "model.safetensors") for name in study.models]
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--quiet", "progress", "rules", "--nolock"]
    subprocess.run(
        [*command, "--configfile", *map(str, files), "--", *models],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=True,
    )


def model_facts(folder: Path) -> dict[str, Any]:
    """Return when a model was trained, its speed and its last validation."""
    attempts = read_json(folder / "provenance.json")["attempts"]
    metrics = [json.loads(line) for line in read_lines(folder / "metrics.jsonl")]
    last = [entry for entry in metrics if entry["kind"] == "validation"][-1]
    shares = {code: last["loss"][code] / last["unigram_entropy"][code] for code in last["loss"]}
    speeds = [entry["tokens_per_second"] for entry in metrics if entry["kind"] == "train"]
    return {
        "began": attempts[0]["began"],
        "ended": attempts[-1]["ended"],
        "seconds": sum(attempt["seconds"] for attempt in attempts),
        "tokens_per_second": sorted(speeds)[len(speeds) // 2],
        "share_of_unigram_entropy": sum(shares.values()) / len(shares),
        "greatest_share": max(shares.values()),
    }


def summary(facts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what the models took together."""
    began, ended = min(fact["began"] for fact in facts.values()), max(fact["ended"] for fact in facts.values())
    took = datetime.fromisoformat(ended) - datetime.fromisoformat(began)
    return {
        "models": len(facts),
        "minutes": took.total_seconds() / 60,
        "core_seconds": sum(fact["seconds"] for fact in facts.values()),
        "greatest_share_of_unigram_entropy": max(fact["greatest_share"] for fact in facts.values()),
    }


def main() -> None:
    """Train a study's models and write what that took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", type=Path, help="what differs from config.yaml; without it the demo")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    folder = args.folder.resolve()
    place = {"study": {"results": str(folder / "results")}, "data": {"root": str(folder / "data")}}
    (folder / "place.yaml").write_text(yaml.safe_dump(place))
    files = [*([args.preset.resolve()] if args.preset else []), folder / "place.yaml"]
    study = Study(read_config(ROOT / "config.yaml", *files))
    train(study, files, args.cores)
    facts = {name: model_facts(study.results / "models" / name) for name in study.models}
    found = {"date": utc(), "study": study.config["study"]["name"], "cores": args.cores, **summary(facts)}
    print(json.dumps(found, indent=2))
    write_json(args.out, found | {"each": facts})


if __name__ == "__main__":
    main()
