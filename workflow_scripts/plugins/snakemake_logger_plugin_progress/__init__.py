"""A Snakemake logger: one line per stage with the time left, and everything there is to know about a failure.

snakemake --logger progress, with this package's folder on PYTHONPATH (make demo does that).
On a terminal the stages at work are a few lines that change; elsewhere a line comes when a stage is done, and one now
and then. Errors and warnings are always printed in full, as Snakemake prints them.
"""

import logging
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from workflow_scripts.progress import Board, seconds_a_job
from xling.core.io import read_json
from xling.core.log import duration

SECONDS_BETWEEN_LINES = 15.0
SECONDS_BETWEEN_REDRAWS = 0.5
MOST_STAGES = 8
PASSED_ON = ("Nothing to be done",)  # of what Snakemake says in passing
CLEAR_BELOW = "\x1b[J"


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """What can be set on the command line, as --logger-progress-earlier."""

    earlier: str = field(
        default="",
        metadata={"help": "provenance.json of an earlier run: its times tell how long this one will take"},
    )


class LogHandler(LogHandlerBase):
    """Prints progress."""

    def __post_init__(self) -> None:
        """Begin with nothing known but what an earlier run took."""
        earlier = getattr(self.settings, "earlier", None)
        self.board = Board(seconds_a_job(read_json(Path(earlier))) if earlier else None)
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.live = self.stream.isatty()
        self.drawn = 0  # lines on the terminal that will be drawn anew
        self.failed = False
        self.over = threading.Event()
        self.ticker: threading.Thread | None = None

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def emit(self, record: logging.LogRecord) -> None:
        """Take an event in, and print what is to be seen of it."""
        try:
            self._show(self._lines_of(record))
        except BrokenPipeError:
            raise
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Say how long everything took."""
        if not self.over.is_set():
            self.over.set()
            if self.board.began is not None:
                took = duration(time.monotonic() - self.board.began)
                self._show([f"stopped after {took}" if self.failed else f"all done in {took}"], finished=True)
        super().close()

    def _lines_of(self, record: logging.LogRecord) -> list[str]:
        event, now = getattr(record, "event", None), time.monotonic()
        if self.common_settings.dryrun or record.levelno >= logging.WARNING:
            self._note_failure(record)
            return [self.format(record)]
        match event:
            case LogEvent.RUN_INFO:
                self.board.plan(record.__dict__["stats"], now)
                self._begin_ticking()
                return [self.board.plan_line()]
            case LogEvent.JOB_INFO:
                self.board.start(record.__dict__["jobid"], record.__dict__["rule_name"], now)
            case LogEvent.JOB_FINISHED:
                stage = self.board.finish(record.__dict__["job_id"], now)
                return [self.board.stage_line(stage, now)] if stage else []
            case None if self.failed or str(record.msg).startswith(PASSED_ON):
                return [self.format(record)]
        return []

    def _note_failure(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            self.failed = True
        if getattr(record, "event", None) == LogEvent.JOB_ERROR:
            self.board.fail(record.__dict__["jobid"])

    def _begin_ticking(self) -> None:
        if self.ticker is None and not self.common_settings.dryrun:
            self.ticker = threading.Thread(target=self._tick, daemon=True)
            self.ticker.start()

    def _tick(self) -> None:
        while not self.over.wait(SECONDS_BETWEEN_REDRAWS if self.live else SECONDS_BETWEEN_LINES):
            self.acquire()
            try:
                self._show([] if self.live else [self._summary()])
            finally:
                self.release()

    def _summary(self) -> str:
        now = time.monotonic()
        stages = "; ".join(self.board.stage_line(stage, now) for stage in self.board.active()[:MOST_STAGES])
        return f"{self.board.total_line(now)} ({stages})" if stages else self.board.total_line(now)

    def _show(self, lines: Sequence[str], finished: bool = False) -> None:
        """Print lines for good and, on a terminal, below them the stages at work."""
        if not self.live:
            self.stream.writelines(f"{line}\n" for line in lines)
        else:
            below = [] if finished or self.board.began is None else self._below()
            up = f"\x1b[{self.drawn}A" if self.drawn else ""
            self.stream.write(f"{up}\r{CLEAR_BELOW}" + "".join(f"{line}\n" for line in [*lines, *below]))
            self.drawn = len(below)
        self.stream.flush()

    def _below(self) -> list[str]:
        now, width = time.monotonic(), shutil.get_terminal_size().columns - 1
        stages = [f"  {self.board.stage_line(stage, now)}" for stage in self.board.active()[:MOST_STAGES]]
        return [line[:width] for line in [*stages, self.board.total_line(now)]]
