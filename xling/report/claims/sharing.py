"""Claims 4 and 5: parameter sharing and language similarity (sections 4.3 and 4.4 of the paper), judged on Table 1."""

from collections.abc import Sequence
from itertools import pairwise

from xling.report.cells import Cells
from xling.report.claims.over import (
    ALL_LANGUAGES,
    ALL_TASKS,
    DISTANT,
    Question,
    Tally,
    by_cell,
    by_task,
    kept_share,
    mean_difference,
)
from xling.report.claims.verdict import Check, Part, Relation, Unit
from xling.report.estimate import difference, ratio
from xling.report.names import (
    DEFAULT,
    NO_ANCHORS,
    SEP_3,
    SEP_6,
    SEP_EMB,
    SEP_EMB_3,
    SEP_EMB_6,
    SETTINGS,
    TASKS,
    cell_name,
)
from xling.report.records import Results


def sharing_matters(results: Results) -> list[Part]:
    """4a: each further group of separate layers costs transfer, with shared and with separate embeddings."""
    cells = Cells(results.figure3)
    return [_falling(cells, (DEFAULT, SEP_3, SEP_6)), _falling(cells, (SEP_EMB, SEP_EMB_3, SEP_EMB_6))]


def shared_softmax_helps(results: Results) -> list[Part]:
    """4b: the mean of Sep Emb is below that of No anchors in each task."""
    cells = Cells(results.figure3)

    def judge(task: str, languages: Sequence[str]) -> list[Check]:
        return [Check(TASKS[task], mean_difference(cells, NO_ANCHORS, SEP_EMB, task, languages), Relation.ABOVE)]

    return [by_task(cells, Question("mean of No anchors minus Sep Emb", Unit.POINTS, (NO_ANCHORS, SEP_EMB)), judge)]


def six_layers_cost_most(results: Results) -> list[Part]:
    """4c: the mean loss of Sep L1-6 is at least three times that of Sep L1-3.

    Where Sep L1-3 loses nothing there is no ratio: then Sep L1-6 must lose something.
    """
    cells = Cells(results.figure3)

    def times(task: str, languages: Sequence[str]) -> list[Check]:
        three, six = (mean_difference(cells, DEFAULT, name, task, languages) for name in (SEP_3, SEP_6))
        return [Check(TASKS[task], ratio(six, three), Relation.AT_LEAST, 3.0)] if three.value > 0 else []

    def loss(task: str, languages: Sequence[str]) -> list[Check]:
        three, six = (mean_difference(cells, DEFAULT, name, task, languages) for name in (SEP_3, SEP_6))
        return [Check(TASKS[task], six, Relation.ABOVE)] if three.value <= 0 else []

    settings = (SEP_3, SEP_6)
    ratios = by_task(cells, Question("mean loss of Sep L1-6 over that of Sep L1-3", Unit.TIMES, settings), times)
    without = "mean loss of Sep L1-6 where Sep L1-3 loses nothing"
    losses = by_task(cells, Question(without, Unit.POINTS, settings), loss)
    return [part for part in (ratios, losses) if part.checks] or [ratios]


def nothing_shared_below_is_lowest(results: Results) -> list[Part]:
    """4d: Sep Emb + L1-6 is the lowest of the settings in every cell, and keeps at most .15 for ru and zh."""
    cells = Cells(results.figure3)

    def judge(task: str, language: str) -> Check:
        others = [name for name in SETTINGS if name != SEP_EMB_6 and cells.has(name, task, language)]
        lowest = min((cells.score(name, task, language) for name in others), key=lambda estimate: estimate.value)
        effect = difference(lowest, cells.score(SEP_EMB_6, task, language))
        return Check(f"{cell_name(task, language)} (of {len(others) + 1} settings)", effect, Relation.ABOVE)

    lowest = Question("lowest other setting minus Sep Emb + L1-6", Unit.POINTS, (SEP_EMB_6,))
    kept = Question("kept share of Sep Emb + L1-6", Unit.SHARE, (SEP_EMB_6,), languages=DISTANT)
    return [by_cell(cells, lowest, judge), kept_share(cells, SEP_EMB_6, Relation.AT_MOST, 0.15, kept)]


def closer_languages_transfer_better(results: Results) -> list[Part]:
    """5: fr is above ru and above zh in every row, and ru above zh on parsing (NER has another dataset for zh)."""
    cells = Cells(results.figure3)
    return [
        _nearer(cells, "fr", "ru", ALL_TASKS),
        _nearer(cells, "fr", "zh", ALL_TASKS),
        _nearer(cells, "ru", "zh", ("parsing",)),
    ]


def _falling(cells: Cells, chain: Sequence[str]) -> Part:
    tally = Tally()
    for task, language in ((task, language) for task in ALL_TASKS for language in ALL_LANGUAGES):
        steps = list(pairwise(name for name in chain if cells.has(name, task, language)))
        if not steps or not cells.has(DEFAULT, task, language):
            tally.not_run.append(cell_name(task, language))
        elif not cells.has_signal(task, language):
            tally.left_out.append(cell_name(task, language))
        else:
            missing = [name for name in chain if not cells.has(name, task, language)]
            tally.not_run += [f"{cell_name(task, language)}, {name}" for name in missing]
            tally.checks += [_step(cells, task, language, *step) for step in steps]
    return tally.part(f"fall from {' to '.join(chain)}", Unit.POINTS)


def _step(cells: Cells, task: str, language: str, upper: str, lower: str) -> Check:
    effect = difference(cells.score(upper, task, language), cells.score(lower, task, language))
    return Check(f"{cell_name(task, language)}, {upper} to {lower}", effect, Relation.ABOVE)


def _nearer(cells: Cells, near: str, far: str, tasks: Sequence[str]) -> Part:
    tally = Tally()
    for task, setting in ((task, setting) for task in tasks for setting in SETTINGS):
        place = f"{TASKS[task]} {setting}"
        if not all(cells.has(name, task, x) for name in (setting, DEFAULT) for x in (near, far)):
            tally.not_run.append(place)
        elif not (cells.has_signal(task, near) and cells.has_signal(task, far)):
            tally.left_out.append(place)
        else:
            effect = difference(cells.score(setting, task, near), cells.score(setting, task, far))
            tally.checks.append(Check(place, effect, Relation.ABOVE))
    return tally.part(f"{near} minus {far}", Unit.POINTS)
