"""Rates behind a plan: read from rates.yaml, each with where it comes from."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workflow_scripts.config import nearest, read_yaml
from xling.core.errors import InputError

RATES_FILE = Path(__file__).with_name("rates.yaml")


@dataclass
class Rates:
    """Assumptions by name; it remembers which of them an estimate used, so that a plan can name them."""

    stages: dict[str, dict[str, Any]]
    device: dict[str, Any]
    downloads: dict[str, Any]
    used: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __call__(self, name: str) -> float:
        """Return a rate and note that it was used; `device.step` and the like belong to what trains."""
        table = self.device if name.startswith("device.") else self.stages
        self.used[name] = table[name.removeprefix("device.")]
        return float(self.used[name]["value"])

    @property
    def gpu(self) -> bool:
        """Whether models are trained on GPUs."""
        return bool(self.device["gpu"])


def load_rates(device: str) -> Rates:
    """Return the rates with those of a device of rates.yaml: h200, cpu."""
    known = read_yaml(RATES_FILE)
    if device not in known["devices"]:
        raise InputError(RATES_FILE, f"no device {device!r}", fix=nearest(device, known["devices"]))
    stages = {**known["stages"], **known["text"], **known["tasks"]}
    return Rates(stages, known["devices"][device], known["downloads"])
