"""What one job takes, and the sum of several."""

from collections.abc import Iterable
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Cost:
    """Wall seconds of a job, seconds of cores and of GPUs, bytes that stay on disk and bytes to fetch."""

    seconds: float = 0.0
    cpu: float = 0.0
    gpu: float = 0.0
    disk: float = 0.0
    download: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        """Return both together."""
        return Cost(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


def total(costs: Iterable[Cost]) -> Cost:
    """Return the sum of costs."""
    return sum(costs, Cost())
