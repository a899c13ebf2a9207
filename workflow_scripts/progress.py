"""What a person sees while the workflow runs: one line per stage, how far it is and how long it will take.

Pure bookkeeping: events in, lines out. The plugin `snakemake_logger_plugin_progress` feeds it and prints.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from xling.core.log import duration

TOTAL = "total"  # the row of Snakemake's job statistics that is no rule
TARGETS = {"all", "report"}  # rules that only name files


@dataclass
class Stage:
    """The jobs of one rule."""

    name: str
    total: int
    expected: float | None = None  # seconds a job took in an earlier run
    done: int = 0
    seconds: float = 0.0  # of all finished jobs together
    running: dict[int, float] = field(default_factory=dict)  # when each job began
    began: float | None = None
    ended: float = 0.0

    @property
    def label(self) -> str:
        """The rule's name as words."""
        return self.name.replace("_", " ")

    @property
    def finished(self) -> bool:
        """Whether all its jobs are done."""
        return self.done >= self.total

    def each(self, pace: float) -> float | None:
        """Return the seconds that a job takes: as measured, else as expected at this machine's pace."""
        if self.done:
            return self.seconds / self.done
        return None if self.expected is None else self.expected * pace

    def work_left(self, now: float, pace: float) -> float | None:
        """Return the seconds of work that its unfinished jobs still need, if that can be known."""
        each = self.each(pace)
        if each is None:
            return None
        waiting = self.total - self.done - len(self.running)
        return waiting * each + sum(max(each - (now - start), 0.0) for start in self.running.values())


class Board:
    """All stages of a run."""

    def __init__(self, expected: Mapping[str, float] | None = None) -> None:
        self.expected = dict(expected or {})
        self.stages: dict[str, Stage] = {}
        self.rule_of: dict[int, str] = {}
        self.began: float | None = None
        self.widest = 1  # most jobs that were seen running at once

    def plan(self, counts: Mapping[str, int], now: float) -> None:
        """Take in how many jobs each rule has, in the order in which they come."""
        self.began = now if self.began is None else self.began
        for rule, count in counts.items():
            if rule != TOTAL and rule not in TARGETS:
                self.stages.setdefault(rule, Stage(rule, count, self._expected(rule))).total = count

    def plan_line(self) -> str:
        """Return how much there is to do."""
        return f"{sum(stage.total for stage in self.stages.values())} jobs in {len(self.stages)} stages"

    def start(self, job: int, rule: str, now: float) -> None:
        """Note that a job begins."""
        if rule in TARGETS:
            return
        stage = self.stages.setdefault(rule, Stage(rule, 1, self._expected(rule)))
        stage.began = now if stage.began is None else stage.began
        stage.running[job] = now
        self.rule_of[job] = rule
        self.widest = max(self.widest, len(self._running()))

    def finish(self, job: int, now: float) -> Stage | None:
        """Note that a job has succeeded; return its stage if that was the last one."""
        stage = self.stages.get(self.rule_of.get(job, ""))
        if stage is None or job not in stage.running:
            return None
        stage.seconds += now - stage.running.pop(job)
        stage.done += 1
        stage.ended = now
        return stage if stage.finished else None

    def fail(self, job: int) -> None:
        """Note that a job has failed; if it is tried again, it starts again."""
        stage = self.stages.get(self.rule_of.get(job, ""))
        if stage is not None:
            stage.running.pop(job, None)

    def pace(self) -> float:
        """Return how much slower this machine is than the one that the expectations come from."""
        known = [stage for stage in self.stages.values() if stage.done and stage.expected]
        wanted = sum(stage.done * (stage.expected or 0.0) for stage in known)
        return sum(stage.seconds for stage in known) / wanted if wanted else 1.0

    def time_left(self, now: float) -> float | None:
        """Return the seconds until everything is done, if every stage that is left can be judged."""
        pace = self.pace()
        left = [stage.work_left(now, pace) for stage in self.stages.values() if not stage.finished]
        known = [seconds for seconds in left if seconds is not None]
        return sum(known) / self.widest if len(known) == len(left) else None

    def active(self) -> list[Stage]:
        """Return the stages that have a job running."""
        return [stage for stage in self.stages.values() if stage.running]

    def stage_line(self, stage: Stage, now: float) -> str:
        """Return one line for a stage: how far it is, since when, and how long it will take."""
        text = f"{stage.label}: {stage.done} of {stage.total}"
        if stage.finished:
            return f"{text} in {duration(_since(stage.began, stage.ended))}"
        work = stage.work_left(now, self.pace())
        width = max(1, min(self.widest, stage.total - stage.done))
        left = "" if work is None else f", about {duration(work / width)} left"
        return f"{text}, {duration(_since(stage.began, now))}{left}"

    def total_line(self, now: float) -> str:
        """Return one line for the whole run."""
        done, total = (sum(getattr(stage, key) for stage in self.stages.values()) for key in ("done", "total"))
        left = self.time_left(now)
        tail = f", about {duration(left)} left" if left is not None and done < total else ""
        return f"{done} of {total} jobs, {duration(_since(self.began, now))}{tail}"

    def _running(self) -> list[int]:
        return [job for stage in self.stages.values() for job in stage.running]

    def _expected(self, rule: str) -> float | None:
        """A rule that is made once for every language is timed under the name that they share."""
        names = [name for name in self.expected if rule == name or rule.startswith(f"{name}_")]
        return self.expected[max(names, key=len)] if names else None


def seconds_a_job(provenance: Mapping[str, object]) -> dict[str, float]:
    """Return the seconds that a job of each stage took in the run that a provenance file describes."""
    stages = provenance.get("stages")
    rows = stages if isinstance(stages, list) else []
    return {row["stage"]: row["wall"] / row["jobs"] for row in rows if row["jobs"]}


def _since(began: float | None, now: float) -> float:
    return 0.0 if began is None else now - began
