# What all rules share: the checked study, paths, revisions, resource classes. Wiring only.

import sys

sys.path.insert(0, str(workflow.basedir))

from workflow_scripts import flags
from workflow_scripts.files import needed_files
from workflow_scripts.study import load_study, use_this_interpreter

use_this_interpreter()
STUDY = load_study(config, workflow.configfiles)
RESULTS = STUDY.results
MODELS = RESULTS / "models"
LOGS = RESULTS / "logs"
BENCHMARKS = RESULTS / "benchmarks"
ENV = "../envs/xling.yaml"

# Editing a module reruns nothing. A change that must change a stage's results raises its number here.
REV = {
    "synthetic": 1,
    "data": 1,
    "tokenization": 1,
    "bpe": 1,
    "codeswitch": 1,
    "pretrain": 2,
    "report": 1,
}

# What a job of each class asks of a machine; a profile may set any rule's resources to something else.
RESOURCE_CLASSES = {
    "login": dict(mem_mb=500, runtime=30),
    "cpu": dict(mem_mb=4000, runtime=240),
    "cpu-many": dict(mem_mb=16000, runtime=720),
    "gpu-long": dict(mem_mb=16000, runtime=1440),
}


wildcard_constraints:
    language=r"[a-z][a-z0-9_]*",
    pair=r"[a-z][a-z0-9_]*-[a-z][a-z0-9_]*",
    languages=r"[a-z][a-z0-9_]*(-[a-z][a-z0-9_]*)?",
    domain="wiki|crawl",
    kind="mono|joint|union|prefixed|separate",
    variant="plain|switched",
    split="train|dev|valid|test",
    model=r"[a-z][a-z0-9_-]*\.[a-z0-9][a-z0-9-]*\.s[0-9]+",


def resource_class(name):
    """Return a class's requests; memory grows with every attempt, and time where a job cannot resume."""
    requests, resumes = RESOURCE_CLASSES[name], name == "gpu-long"
    return {
        "mem_mb": lambda wildcards, attempt: requests["mem_mb"] * attempt,
        "runtime": lambda wildcards, attempt: requests["runtime"] * (1 if resumes else attempt),
    }


def bilingual_models():
    """Return the names of the trained models of two languages."""
    return [name for name in STUDY.trained if STUDY.models[name].bilingual]
