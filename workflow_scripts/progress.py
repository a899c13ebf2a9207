"""Progress output while the workflow runs: one line per stage, with its finished jobs and its time.

This is Snakemake's logger `progress` (plugins/snakemake_logger_plugin_progress). It prints a line when a stage ends,
and a summary of the running stages: at intervals or, on a terminal, always as the last line. For a failed job it prints
the error line of the job's log and then Snakemake's own message. At the end it lists the files that were made.
"""

import logging
import shutil
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from xling.core.log import duration

NO_STAGES = {"total", "all", "report"}  # rows of Snakemake's job statistics that are not rules or do no work
SECONDS_BETWEEN_LINES, SECONDS_BETWEEN_REDRAWS = 15.0, 0.5
MOST_OF_A_LOG = 1 << 16  # bytes at the end of a log that are read
MOST_NAMES = 4  # files per folder that the final list names; of more it gives the number
FOR_PEOPLE = ("tables", "figures", "models")  # folders whose files are listed even if other jobs read them
MOST_FOLDERS = 6  # other folders in the final list
CLEAR_LINE = "\r\x1b[K"
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

    @property
    def line(self) -> str:
        """The finished jobs, and the time since the stage started or the time that it took."""
        text, over = f"{self.name.replace('_', ' ')}: {self.done} of {self.total}", self.done >= self.total
        now = time.monotonic()
        return f"{text} in {duration(self.ended - self.began)}" if over else f"{text}, {duration(now - self.began)}"


@dataclass
class Job:
    """A running job."""

    stage: Stage
    outputs: list[str]
    logs: list[str]


def bare(paths: Iterable[str]) -> list[str]:
    """Return paths without the remarks in brackets that Snakemake appends."""
    return [path.partition(" (")[0] for path in paths]


def lines_of(logs: Iterable[str]) -> list[str]:
    """Return the lines at the end of a job's logs, without blank lines."""
    texts = [path.read_bytes()[-MOST_OF_A_LOG:] for path in map(Path, bare(logs)) if path.is_file()]
    return [line for text in texts for line in text.decode(errors="replace").splitlines() if line.strip()]


def own_error(logs: Iterable[str]) -> str:
    """Return the last error line in a failed job's logs, or the last line, or an empty string if there is no line."""
    told = lines_of(logs)
    return next((line for line in reversed(told) if line.startswith("error:")), told[-1] if told else "")


def products(made: Iterable[str], read: set[str]) -> list[str]:
    """Return a line for each folder with new files that are for people, or that no other job has read."""
    folders: dict[Path, list[str]] = {}
    for path in map(Path, made):
        shown = [parent for parent in path.parents if parent.name in FOR_PEOPLE]
        if shown or str(path) not in read:
            folders.setdefault(shown[-1] if shown else path.parent, []).append(path.name)
    for folder in [folder for folder in folders if folder.name not in FOR_PEOPLE][:-MOST_FOLDERS]:
        del folders[folder]  # the last folders are closest to the targets
    listed = {folder: ", ".join(names) for folder, names in folders.items() if len(names) <= MOST_NAMES}
    return [f"  {folder}: {listed.get(folder, f'{len(names)} files')}" for folder, names in folders.items()]


class LogHandler(LogHandlerBase):
    """Print progress for Snakemake's log events."""

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        """Set up the state of a run that has not started."""
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.live = self.stream.isatty()
        self.stages: dict[str, Stage] = {}
        self.running: dict[int, Job] = {}
        self.read: set[str] = set()  # files that jobs have read
        self.made: list[str] = []
        self.began = NEVER
        self.failed = False
        self.held: list[str] = []  # messages about a failed job that Snakemake sends before the failure itself
        self.over = threading.Event()

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
            if self.began < NEVER:
                made = products(self.made, self.read)
                word = "stopped after" if self.failed else "all done in"
                took = f"{word} {duration(time.monotonic() - self.began)}"
                self._show([*self.held, took, *(["made:", *made] if made else [])])
        super().close()

    def _lines_of(self, record: logging.LogRecord) -> list[str]:
        event, about = getattr(record, "event", None), record.__dict__
        self.failed = self.failed or record.levelno >= logging.ERROR
        if event == LogEvent.ERROR and about.get("exception") == "RuleException":
            self.held.append(self.format(record))
            return []
        if event == LogEvent.JOB_ERROR:
            self.held.clear()
            self.running.pop(about["jobid"], None)  # a retry sends a new start event
            reason, rule = own_error(about["log"]), about["rule_name"].replace("_", " ")
            return [*([f"{rule} failed: {reason}"] if reason else []), self.format(record)]
        if self.common_settings.dryrun or record.levelno >= logging.WARNING:
            return [self.format(record)]
        match event:
            case LogEvent.RUN_INFO:
                return [self._plan(about["stats"])]
            case LogEvent.JOB_INFO if about["rule_name"] not in NO_STAGES:
                stage = self.stages.setdefault(about["rule_name"], Stage(about["rule_name"]))
                stage.began = min(stage.began, time.monotonic())
                self.read |= set(bare(about["input"]))
                self.running[about["jobid"]] = Job(stage, bare(about["output"]), about["log"])
            case LogEvent.JOB_FINISHED if job := self.running.pop(about["job_id"], None):
                return self._finish(job)
            case None if self.failed or str(record.msg).startswith("Nothing to be done"):
                return [self.format(record)]
        return []

    def _plan(self, counts: dict[str, int]) -> str:
        """Record the number of jobs of each rule; return a summary line."""
        if self.began == NEVER:
            self.began = time.monotonic()
            threading.Thread(target=self._tick, daemon=True).start()
        for rule in counts.keys() - NO_STAGES:
            self.stages.setdefault(rule, Stage(rule)).total = counts[rule]
        jobs, stages = sum(stage.total for stage in self.stages.values()), len(self.stages)
        return f"{jobs} job{'s' * (jobs != 1)} in {stages} stage{'s' * (stages != 1)}"

    def _finish(self, job: Job) -> list[str]:
        """Record that a job has succeeded; return the warnings in its log, and a line if its stage is finished."""
        self.made += job.outputs
        job.stage.done, job.stage.ended = job.stage.done + 1, time.monotonic()
        warned = dict.fromkeys(line.partition(WARNING)[2] for line in lines_of(job.logs) if WARNING in line)
        ended = [job.stage.line] if job.stage.done >= job.stage.total else []
        return [f"warning: {line}" for line in warned] + ended

    def _summary(self) -> str:
        """Return the state of the whole run and of each running stage in one line."""
        done, total = (sum(getattr(stage, key) for stage in self.stages.values()) for key in ("done", "total"))
        whole = f"{done} of {total} jobs, {duration(time.monotonic() - self.began)}"
        active = {job.stage.name: job.stage.line for job in self.running.values()}
        return f"{whole} ({'; '.join(active.values())})" if active else whole

    def _tick(self) -> None:
        while not self.over.wait(SECONDS_BETWEEN_REDRAWS if self.live else SECONDS_BETWEEN_LINES):
            self.acquire()
            try:
                self._show([] if self.live else [self._summary()])
            finally:
                self.release()

    def _show(self, lines: list[str]) -> None:
        """Print lines and, on a terminal, the summary below them, which the next lines replace."""
        text = "".join(f"{line}\n" for line in lines)
        if self.live:
            shown = self.began < NEVER and not self.over.is_set()
            text = CLEAR_LINE + text + (self._summary()[: shutil.get_terminal_size().columns - 1] if shown else "")
        self.stream.write(text)
        self.stream.flush()
