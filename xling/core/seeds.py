"""Seeds that belong to a purpose, not to a process: the same name gives the same numbers everywhere."""

import hashlib
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def derive_seed(*parts: object) -> int:
    """Return a 63-bit seed for what these parts name, equal on every machine and Python."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def python_rng(*parts: object) -> random.Random:
    """Return Python's generator for the stream these parts name."""
    return random.Random(derive_seed(*parts))


def numpy_rng(*parts: object) -> "np.random.Generator":
    """Return numpy's generator (PCG64) for the stream these parts name."""
    import numpy as np  # here, because the workflow derives seeds without it

    return np.random.Generator(np.random.PCG64(derive_seed(*parts)))
