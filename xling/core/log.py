"""Logs with one line per event and UTC time, and progress as an occasional line."""

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
SECONDS_BETWEEN_LINES = 30.0


class _ToStderr(logging.Handler):
    """Looks up sys.stderr for each message, because an earlier redirection of it may be closed by now."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            print(self.format(record), file=sys.stderr, flush=True)
        except Exception:  # as in logging's own handlers: a failing log must not stop the program
            self.handleError(record)


def log_to_stderr(name: str) -> logging.Logger:
    """Return a logger that writes lines with UTC time to standard error."""
    log = logging.getLogger("xling")
    if not log.handlers:
        _add_handler(_ToStderr())
        log.setLevel(logging.INFO)
        log.propagate = False
    return logging.getLogger(name if name.startswith("xling") else f"xling.{name}")


def log_to_file(path: Path) -> None:
    """Also append the log to a file."""
    _add_handler(logging.FileHandler(path, encoding="utf-8"))


def _add_handler(handler: logging.Handler) -> None:
    formatter = logging.Formatter("%(asctime)sZ %(levelname)s %(message)s", datefmt="%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logging.getLogger("xling").addHandler(handler)


class Progress:
    """Counts finished work and shows the rate and, if `total` is known, the remaining time."""

    def __init__(self, what: str, total: float | None = None, unit: str = "lines") -> None:
        self.what, self.total, self.unit = what, total, unit
        self.done = 0.0
        self.start = self.last_shown = time.monotonic()

    def add(self, amount: float = 1) -> None:
        """Add to the finished work, and show the progress if the last display is long enough ago."""
        self.done += amount
        now = time.monotonic()
        if now - self.last_shown >= SECONDS_BETWEEN_LINES:
            self.last_shown = now
            self.finish()

    def finish(self) -> None:
        """Show the amount of finished work and the rate."""
        print(self.text(time.monotonic() - self.start), file=sys.stderr, flush=True)

    def text(self, elapsed: float) -> str:
        """Return the progress line after `elapsed` seconds."""
        rate = self.done / elapsed if elapsed > 0 else 0.0
        of = f" of {_count(self.total)}" if self.total else ""
        parts = [f"{self.what}: {_count(self.done)}{of} {self.unit}"]
        if self.total:
            parts.append(f"{100 * self.done / self.total:.0f}%")
        parts.append(f"{_count(rate)} {self.unit}/s")
        if self.total and rate > 0 and self.done < self.total:
            parts.append(f"{duration((self.total - self.done) / rate)} left")
        return ", ".join(parts)


def track(items: Iterable[Item], what: str, total: float | None = None, unit: str = "lines") -> Iterator[Item]:
    """Yield the items and show the progress."""
    progress = Progress(what, total, unit)
    for item in items:
        yield item
        progress.add()
    progress.finish()


def _count(number: float) -> str:
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{suffix}"
    return f"{number:.3g}"


def duration(seconds: float) -> str:
    """Return a duration as text in hours, minutes and seconds, such as 2h05m."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02d}m" if hours else f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"
