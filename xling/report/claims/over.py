"""Going over the cells of Table 1: which of them can be judged, and the checks that come of those."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from xling.report.cells import Cells
from xling.report.claims.verdict import Check, Over, Part, Relation, Unit
from xling.report.estimate import Estimate, difference, mean
from xling.report.names import DEFAULT, cell_name

ALL_TASKS, NOT_NER = ("xnli", "ner", "parsing"), ("xnli", "parsing")
ALL_LANGUAGES, DISTANT = ("fr", "ru", "zh"), ("ru", "zh")
CellJudge = Callable[[str, str], Check]
TaskJudge = Callable[[str, Sequence[str]], Sequence[Check]]


@dataclass(frozen=True)
class Question:
    """What is asked, in which cells, and which settings (besides Default) must have been run for it."""

    what: str
    unit: Unit
    settings: tuple[str, ...]
    tasks: tuple[str, ...] = ALL_TASKS
    languages: tuple[str, ...] = ALL_LANGUAGES


@dataclass
class Tally:
    """Collects the cells that a part is about, its checks, and the cells where nothing could be checked."""

    checks: list[Check] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)

    def ask(self, cell: str, missing: Iterable[str], has_signal: Callable[[], bool]) -> bool:
        """Return whether a cell can be judged, and note why not; signal is asked for where nothing is missing."""
        self.asked.append(cell)
        if lacking := list(missing):
            self.not_run.append(cell)
            self.lacking += lacking
            return False
        if not has_signal():
            self.left_out.append(cell)
            return False
        return True

    def part(self, what: str, unit: Unit, over: Over = Over.CELLS) -> Part:
        """Return what was collected."""
        cells = (tuple(self.left_out), tuple(self.not_run), tuple(self.asked))
        return Part(what, unit, tuple(self.checks), *cells, tuple(dict.fromkeys(self.lacking)), over)


def missing_settings(cells: Cells, settings: Iterable[str], task: str, language: str) -> list[str]:
    """Return which of some settings, Default among them, were not run in a cell."""
    return [name for name in dict.fromkeys((DEFAULT, *settings)) if not cells.has(name, task, language)]


def usable(cells: Cells, question: Question, task: str, tally: Tally) -> list[str]:
    """Return the languages of a task that can be judged, and note why the others cannot."""

    def clear(language: str) -> bool:
        missing = missing_settings(cells, question.settings, task, language)
        return tally.ask(cell_name(task, language), missing, lambda: cells.has_signal(task, language))

    return [language for language in question.languages if clear(language)]


def partly_usable(
    cells: Cells, settings: Iterable[str], task: str, language: str, tally: Tally
) -> tuple[str, ...] | None:
    """Return what checks of a cell judge: the cell, nothing where settings are missing, None if there is no check.

    Whatever must hold between several settings must hold between those of them that were run: that can be refuted.
    """
    name, missing = cell_name(task, language), missing_settings(cells, settings, task, language)
    if tally.ask(name, missing, lambda: cells.has_signal(task, language)):
        return (name,)
    return () if missing and DEFAULT not in missing and cells.has_signal(task, language) else None


def cell_names(task: str, languages: Iterable[str]) -> tuple[str, ...]:
    """Return the cells of a task, which a check of their mean judges."""
    return tuple(cell_name(task, language) for language in languages)


def by_task(cells: Cells, question: Question, judge: TaskJudge) -> Part:
    """Judge each task on those of its languages that can be judged."""
    tally = Tally()
    for task in question.tasks:
        if languages := usable(cells, question, task, tally):
            tally.checks += judge(task, languages)
    return tally.part(question.what, question.unit)


def by_cell(cells: Cells, question: Question, judge: CellJudge) -> Part:
    """Judge each cell that can be judged."""
    return by_task(cells, question, lambda task, languages: [judge(task, language) for language in languages])


def kept_share(cells: Cells, setting: str, relation: Relation, border: float, question: Question) -> Part:
    """Judge the share of Default's transfer that a setting keeps in each cell."""

    def judge(task: str, language: str) -> Check:
        kept = cells.kept(setting, task, language)
        return Check(cell_name(task, language), kept, relation, border, language=language)

    return by_cell(cells, question, judge)


def mean_kept(cells: Cells, setting: str, task: str, languages: Sequence[str]) -> Estimate:
    """Return the mean kept share of a setting over some languages."""
    return mean([cells.kept(setting, task, language) for language in languages])


def mean_difference(cells: Cells, left: str, right: str, task: str, languages: Sequence[str]) -> Estimate:
    """Return the mean difference in points of two settings over some languages."""
    return mean([difference(cells.score(left, task, x), cells.score(right, task, x)) for x in languages])
