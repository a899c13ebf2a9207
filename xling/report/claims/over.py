"""Going over the cells of Table 1: which of them can be judged, and the checks that come of those."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xling.report.cells import Cells
from xling.report.claims.verdict import Check, Part, Relation, Unit
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
    """Collects the checks of a part and the places where nothing could be checked."""

    checks: list[Check] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)

    def part(self, what: str, unit: Unit) -> Part:
        """Return what was collected."""
        return Part(what, unit, tuple(self.checks), tuple(self.left_out), tuple(self.not_run))


def usable(cells: Cells, question: Question, task: str, tally: Tally) -> list[str]:
    """Return the languages of a task that can be judged, and note why the others cannot."""
    clear = []
    for language in question.languages:
        if not all(cells.has(setting, task, language) for setting in (DEFAULT, *question.settings)):
            tally.not_run.append(cell_name(task, language))
        elif not cells.has_signal(task, language):
            tally.left_out.append(cell_name(task, language))
        else:
            clear.append(language)
    return clear


def by_task(cells: Cells, question: Question, judge: TaskJudge) -> Part:
    """Judge each task on those of its languages that can be judged."""
    tally = Tally()
    for task in question.tasks:
        languages = usable(cells, question, task, tally)
        if languages:
            tally.checks += judge(task, languages)
    return tally.part(question.what, question.unit)


def by_cell(cells: Cells, question: Question, judge: CellJudge) -> Part:
    """Judge each cell that can be judged."""
    return by_task(cells, question, lambda task, languages: [judge(task, language) for language in languages])


def kept_share(cells: Cells, setting: str, relation: Relation, border: float, question: Question) -> Part:
    """Judge the share of Default's transfer that a setting keeps in each cell."""

    def judge(task: str, language: str) -> Check:
        return Check(cell_name(task, language), cells.kept(setting, task, language), relation, border)

    return by_cell(cells, question, judge)


def mean_kept(cells: Cells, setting: str, task: str, languages: Sequence[str]) -> Estimate:
    """Return the mean kept share of a setting over some languages."""
    return mean([cells.kept(setting, task, language) for language in languages])


def mean_difference(cells: Cells, left: str, right: str, task: str, languages: Sequence[str]) -> Estimate:
    """Return the mean difference in points of two settings over some languages."""
    return mean([difference(cells.score(left, task, x), cells.score(right, task, x)) for x in languages])
