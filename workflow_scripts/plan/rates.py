"""The rates that a plan assumes, each with its source, read from rates.yaml or from the user's own calibration."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workflow_scripts.config import nearest, read_yaml
from xling.core.errors import InputError

RATES_FILE = Path(__file__).with_name("rates.yaml")
MEASURED = {"step": 0.0, "operations_per_second": 1e-9, "tuning_step": 0.0}  # of a device, with minimum values


@dataclass
class Rates:
    """Rates by name; `used` records the rates that an estimate has used, for the list of assumptions."""

    stages: dict[str, dict[str, Any]]
    device: dict[str, Any]
    downloads: dict[str, Any]
    used: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __call__(self, name: str) -> float:
        """Return a rate and record its use; the prefix `device.` marks rates of the training device."""
        table = self.device if name.startswith("device.") else self.stages
        self.used[name] = table[name.removeprefix("device.")]
        return float(self.used[name]["value"])

    @property
    def gpu(self) -> bool:
        """Whether models are trained on GPUs."""
        return bool(self.device["gpu"])


def load_rates(device: str) -> Rates:
    """Return the rates of a device: h200, cpu, or the path of a calibration file."""
    known = read_yaml(RATES_FILE)
    stages = {**known["stages"], **known["text"], **known["tasks"]}
    if device in known["devices"]:
        return Rates(stages, known["devices"][device], known["downloads"])
    path = Path(device)
    if not path.is_file():
        raise InputError(path, "no such file of rates", fix=f"{nearest(device, known['devices'])}, or a file")
    own = read_yaml(path)
    wrong = [key for key, kind in (("name", str), ("gpu", bool)) if not isinstance(own.get(key), kind)]
    for key, least in MEASURED.items():
        value = own[key].get("value") if isinstance(own.get(key), dict) else None
        wrong += [] if isinstance(value, int | float) and value >= least else [key]
    if wrong:
        raise InputError(path, f"missing or wrong: {', '.join(wrong)}", fix="write it with python -m bench.calibrate")
    return Rates(stages, known["devices"]["h200" if own["gpu"] else "cpu"] | own, known["downloads"])
