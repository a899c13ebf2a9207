"""What a lock file pins, for tests of the ways to install the software."""


def read_pins(lock):
    """Return the versions that a lock file holds."""
    lines = [line for line in lock.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return dict(line.split("==", 1) for line in lines)
