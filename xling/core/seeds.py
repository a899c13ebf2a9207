"""Seeds derived from names: the same name gives the same random numbers in every process."""

import hashlib
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def derive_seed(*parts: object) -> int:
    """Return a 63-bit seed for the name made of these parts, equal on every machine and Python version."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def python_rng(*parts: object) -> random.Random:
    """Return Python's random generator, seeded with the name made of these parts."""
    return random.Random(derive_seed(*parts))


def numpy_rng(*parts: object) -> "np.random.Generator":
    """Return numpy's random generator (PCG64), seeded with the name made of these parts."""
    import numpy as np  # imported here, because the workflow derives seeds without numpy

    return np.random.Generator(np.random.PCG64(derive_seed(*parts)))
