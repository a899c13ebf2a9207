"""From a study's numbers and the rates to seconds: what all estimates have in common."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workflow_scripts.plan.costs import Cost
from workflow_scripts.plan.jobs import Job
from workflow_scripts.plan.rates import Rates
from workflow_scripts.plan.sizes import Sizes
from workflow_scripts.study import Study

FORWARD = 1 / 3  # of the operations of training: backward takes twice as many as forward
FLOAT = 4  # bytes


@dataclass(frozen=True)
class Estimator:
    """Estimates jobs of one study at some rates."""

    study: Study
    rates: Rates
    sizes: Sizes

    def cores(self, job: Job, seconds: float, disk: float = 0.0) -> Cost:
        """Return the cost of a job that keeps its threads busy for so many seconds of one core.

        CPU time is that of the cores a job has, busy or not, as clusters charge it.
        """
        wall = self.rates("start") + seconds / job.threads
        return Cost(wall, wall * job.threads, 0.0, disk)

    def device(self, job: Job, seconds: float, disk: float = 0.0) -> Cost:
        """Return the cost of a job that keeps one device busy for so long, or several for less."""
        start = self.rates("device.start")
        if not self.rates.gpu:
            return Cost(start + seconds, start + seconds, 0.0, disk)
        gpus = max(1, job.gpus)
        wall = start + seconds / gpus
        return Cost(wall, wall * job.threads, wall * gpus, disk)

    def steps(self, count: float, operations: float, step: str = "device.step") -> float:
        """Return the device's seconds for steps that together take some operations."""
        return count * self.rates(step) + operations / self.rates("device.operations_per_second")


def operations(run: Mapping[str, Any], words: int) -> float:
    """Return the useful operations that training on one token takes (the formula of xling.pretrain.record)."""
    shape, train = run["shape"], run["pretrain"]
    matrices = 4 * shape["width"] ** 2 + 2 * shape["width"] * shape["feedforward"]
    layers = shape["layers"] * (6 * matrices + 12 * train["length"] * shape["width"])
    return float(layers + 6 * words * shape["width"] * train["mask_rate"])


def encoder_operations(run: Mapping[str, Any], length: float) -> float:
    """Return the operations of training on one token of sequences of a length, without a softmax."""
    return operations({"shape": run["shape"], "pretrain": {"length": length, "mask_rate": 0.0}}, 0)


def parameters(run: Mapping[str, Any], words: int) -> float:
    """Return the weights of a model's tables and layers, per language where separate; biases and norms are left out."""
    shape, apart = run["shape"], run["separate"]
    layer = 4 * shape["width"] ** 2 + 2 * shape["width"] * shape["feedforward"]
    copies = len(run["languages"]) - 1
    layers = shape["layers"] + copies * apart["layers"]
    tables = 1 + (copies if apart["embeddings"] else 0)
    places = 1 + (copies if apart["embeddings"] is True else 0)  # `tokens` leaves these shared
    vectors = words * tables + (shape["positions"] + shape["sentences"]) * places
    return float(layers * layer + vectors * shape["width"])
