"""Progress output while the workflow runs: one line per stage, with its finished jobs and its time.

This is Snakemake's logger `progress` (plugins/snakemake_logger_plugin_progress). On a terminal it redraws a few lines
for the running stages. Elsewhere it prints a line when a stage ends, and a summary at intervals. For a failed job it
prints the error line of the job's log and then Snakemake's own message. At the end it lists the files that were made.
"""

import logging
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from xling.core.log import duration

NO_STAGES = {"total", "all", "report"}  # rows of Snakemake's job statistics that are not rules or do no work
SECONDS_BETWEEN_LINES, SECONDS_BETWEEN_REDRAWS = 15.0, 0.5
MOST_STAGES = 8
MOST_OF_A_LOG = 1 << 16  # bytes at the end of a log that are read
MOST_NAMES = 4  # files per folder that the final list names; of more it gives the number
FOR_PEOPLE = ("tables", "figures", "models")  # folders whose files are listed even if other jobs read them
MOST_FOLDERS = 6  # other folders in the final list
CLEAR_BELOW = "\x1b[J"
NEVER = float("inf")
WARNING = "Z WARNING "  # as xling.core.log writes it


@dataclass
class Stage:
    """The jobs of one rule."""

    name: str
    total: int = 1
    done: int = 0
    began: float = NEVER
    ended: float = 0.0


@dataclass
class Job:
    """A running job."""

    stage: Stage
    outputs: list[str]
    logs: list[str]


class Board:
    """The state of all stages of a run: methods take events and return lines to print."""

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = {}
        self.running: dict[int, Job] = {}
        self.began = NEVER
        self.read: set[str] = set()  # files that jobs have read
        self.made: list[str] = []

    def plan(self, counts: Mapping[str, int], now: float) -> str:
        """Record the number of jobs of each rule; return a summary line."""
        self.began = min(self.began, now)
        for rule in counts.keys() - NO_STAGES:
            self.stages.setdefault(rule, Stage(rule)).total = counts[rule]
        jobs, stages = sum(stage.total for stage in self.stages.values()), len(self.stages)
        return f"{jobs} job{'s' * (jobs != 1)} in {stages} stage{'s' * (stages != 1)}"

    def start(
        self, job: int, rule: str, now: float, inputs: Iterable[str], outputs: Iterable[str], logs: Sequence[str] = ()
    ) -> None:
        """Record that a job has started."""
        if rule not in NO_STAGES:
            stage = self.stages.setdefault(rule, Stage(rule))
            stage.began = min(stage.began, now)
            self.read |= {bare(path) for path in inputs}
            self.running[job] = Job(stage, [bare(path) for path in outputs], list(logs))

    def finish(self, job: int, now: float) -> list[str]:
        """Record that a job has succeeded; return the warnings in its log, and a line if its stage is finished."""
        if not (ended := self.running.pop(job, None)):
            return []
        self.made += ended.outputs
        stage = ended.stage
        stage.done, stage.ended = stage.done + 1, now
        warned = dict.fromkeys(line.partition(WARNING)[2] for line in lines_of(ended.logs) if WARNING in line)
        return [f"warning: {line}" for line in warned] + ([stage_line(stage, now)] if stage.done >= stage.total else [])

    def products(self) -> list[str]:
        """Return a line for each folder with new files that are for people, or that no other job has read."""
        folders: dict[Path, list[str]] = {}
        for path in map(Path, self.made):
            shown = [parent for parent in path.parents if parent.name in FOR_PEOPLE]
            if shown or str(path) not in self.read:
                folders.setdefault(shown[-1] if shown else path.parent, []).append(path.name)
        for folder in [folder for folder in folders if folder.name not in FOR_PEOPLE][:-MOST_FOLDERS]:
            del folders[folder]  # the last folders are closest to the targets
        listed = {folder: ", ".join(names) for folder, names in folders.items() if len(names) <= MOST_NAMES}
        return [f"  {folder}: {listed.get(folder, f'{len(names)} files')}" for folder, names in folders.items()]

    def lines(self, now: float) -> list[str]:
        """Return a line for each running stage, and one for the whole run."""
        active = {job.stage.name: job.stage for job in self.running.values()}
        done, total = (sum(getattr(stage, key) for stage in self.stages.values()) for key in ("done", "total"))
        whole = f"{done} of {total} jobs, {duration(now - self.began)}"
        return [*(stage_line(stage, now) for stage in list(active.values())[:MOST_STAGES]), whole]


def stage_line(stage: Stage, now: float) -> str:
    """Return one line for a stage: finished jobs, and the time since it started or the time it took."""
    text = f"{stage.name.replace('_', ' ')}: {stage.done} of {stage.total}"
    over = stage.done >= stage.total
    return f"{text} in {duration(stage.ended - stage.began)}" if over else f"{text}, {duration(now - stage.began)}"


def bare(path: str) -> str:
    """Return a path without the remark in brackets that Snakemake appends."""
    return path.partition(" (")[0]


def lines_of(logs: Iterable[str]) -> list[str]:
    """Return the lines at the end of a job's logs, without blank lines."""
    texts = [path.read_bytes()[-MOST_OF_A_LOG:] for log in logs if (path := Path(bare(log))).is_file()]
    return [line for text in texts for line in text.decode(errors="replace").splitlines() if line.strip()]


def own_error(logs: Iterable[str]) -> str:
    """Return the last error line in a failed job's logs, or the last line, or an empty string if there is no line."""
    told = lines_of(logs)
    return next((line for line in reversed(told) if line.startswith("error:")), told[-1] if told else "")


class LogHandler(LogHandlerBase):
    """Print progress for Snakemake's log events."""

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        """Set up an empty board and the output stream."""
        self.board = Board()
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.live = self.stream.isatty()
        self.drawn = 0  # lines on the terminal that will be redrawn
        self.failed = False
        self.held: list[str] = []  # messages about a failed job that Snakemake sends before the failure itself
        self.over = threading.Event()
        self.ticker: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Handle an event and print its lines."""
        try:
            self._show(self._lines_of(record))
        except BrokenPipeError:
            raise
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Print the total time and the files that were made."""
        if not self.over.is_set():
            self.over.set()
            if self.board.began < NEVER:
                word = "stopped after" if self.failed else "all done in"
                lines = [*self.held, f"{word} {duration(time.monotonic() - self.board.began)}"]
                made = self.board.products()
                self._show([*lines, *(["made:", *made] if made else [])], finished=True)
        super().close()

    def _lines_of(self, record: logging.LogRecord) -> list[str]:
        event, now, about = getattr(record, "event", None), time.monotonic(), record.__dict__
        self.failed = self.failed or record.levelno >= logging.ERROR
        if event == LogEvent.ERROR and about.get("exception") == "RuleException":
            self.held.append(self.format(record))
            return []
        if event == LogEvent.JOB_ERROR:
            self.held.clear()
            self.board.running.pop(about["jobid"], None)  # a retry sends a new start event
            reason, rule = own_error(about["log"]), about["rule_name"].replace("_", " ")
            return [*([f"{rule} failed: {reason}"] if reason else []), self.format(record)]
        if self.common_settings.dryrun or record.levelno >= logging.WARNING:
            return [self.format(record)]
        match event:
            case LogEvent.RUN_INFO:
                if self.ticker is None:
                    self.ticker = threading.Thread(target=self._tick, daemon=True)
                    self.ticker.start()
                return [self.board.plan(about["stats"], now)]
            case LogEvent.JOB_INFO:
                files = (about[key] for key in ("input", "output", "log"))
                self.board.start(about["jobid"], about["rule_name"], now, *files)
            case LogEvent.JOB_FINISHED:
                return self.board.finish(about["job_id"], now)
            case None if self.failed or str(record.msg).startswith("Nothing to be done"):
                return [self.format(record)]
        return []

    def _tick(self) -> None:
        while not self.over.wait(SECONDS_BETWEEN_REDRAWS if self.live else SECONDS_BETWEEN_LINES):
            self.acquire()
            try:
                *stages, whole = self.board.lines(time.monotonic())
                self._show([] if self.live else [f"{whole} ({'; '.join(stages)})" if stages else whole])
            finally:
                self.release()

    def _show(self, lines: Sequence[str], finished: bool = False) -> None:
        """Print permanent lines and, on a terminal, the running stages below them."""
        below: list[str] = []
        if self.live and not finished and self.board.began < NEVER:
            *stages, whole = self.board.lines(time.monotonic())
            width = shutil.get_terminal_size().columns - 1
            below = [line[:width] for line in [*(f"  {stage}" for stage in stages), whole]]
        up = f"\x1b[{self.drawn}A" if self.drawn else ""
        text = "".join(f"{line}\n" for line in [*lines, *below])
        self.stream.write(f"{up}\r{CLEAR_BELOW}{text}" if self.live else text)
        self.drawn = len(below)
        self.stream.flush()
