# Definitions that all rules share: the checked study, paths, code revisions and resource classes.

import re
import sys
from pathlib import Path

sys.path.insert(0, str(workflow.basedir))

from workflow_scripts import flags
from workflow_scripts.site import extra_flags, list_bad_nodes, load_site, set_path
from workflow_scripts.study import load_study
from workflow_scripts.targets import refuse_wrong_targets

# Editing a module reruns nothing. If a change must alter the results of a stage, raise the number of the stage here.
# Snakemake does not compare params that are functions of `output`, so the hashes for `expect` never cause a rerun.
REV = {
    "synthetic": 2,
    "data": 1,
    "tokenization": 1,
    "bpe": 1,
    "codeswitch": 1,
    "pretrain": 3,
    "finetune": 1,
    "align": 2,
    "contextual": 1,
    "cka": 1,
    "report": 8,
}

set_path(Path(workflow.basedir))
STUDY = load_study(config, workflow.configfiles, REV)
RESULTS = STUDY.results
TRANSFER, ALIGNMENT, CONTEXTUAL = STUDY.transfer, STUDY.alignment, STUDY.contextual
MODELS = RESULTS / "models"
LOGS = RESULTS / "logs"
BENCHMARKS = RESULTS / "benchmarks"
RECORDS = RESULTS / "records"
ENV, TEXT_ENV = "../envs/xling.yaml", "../envs/text.yaml"  # text stages never import torch

AFTER_TEXT = -1  # priority of long jobs: the text of all trainings is ready first, so that no training starts late

# Resources that each class of jobs requests; local rules have no class. See profiles/slurm/site.yaml for a cluster.
RESOURCE_CLASSES = {
    "cpu": dict(mem_mb=4000, runtime=240),
    "cpu-many": dict(mem_mb=16000, runtime=720),
    "gpu": dict(mem_mb=16000, runtime=240, gpu=1, nodes=1, cpus_per_task=2),
    "gpu-many": dict(mem_mb=32000, runtime=720, gpu=1, nodes=1, cpus_per_task=4),
    "gpu-long": dict(mem_mb=16000, runtime=1440, gpu=1, nodes=1, cpus_per_task=4),
}
SITE = load_site(Path(workflow.basedir), RESOURCE_CLASSES)
BAD_NODES = list_bad_nodes(RESULTS)


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
    """Return the resource requests of a class; they grow with each attempt.

    A job that can resume is different: most attempts end at the time limit, so only its memory grows, and only once.
    """
    requests, resumes = SITE.requests(name, RESOURCE_CLASSES[name]), name == "gpu-long"
    growing = {
        "mem_mb": lambda wildcards, attempt: requests["mem_mb"] * (min(attempt, 2) if resumes else attempt),
        "runtime": lambda wildcards, attempt: SITE.minutes(requests, attempt, resumes),
    }
    if name.startswith("gpu"):
        growing["slurm_extra"] = lambda wildcards: extra_flags(requests, BAD_NODES)
    return requests | growing


def passing(path):
    """Return a text output that Snakemake deletes after its last use, unless the config has `text.keep`."""
    return path if config["text"]["keep"] else temp(path)
