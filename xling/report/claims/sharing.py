"""Claims 4 and 5: parameter sharing and language similarity (sections 4.3 and 4.4 of the paper), judged on Table 1."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product

from xling.report.cells import Cells
from xling.report.claims.over import (
    ALL_LANGUAGES,
    ALL_TASKS,
    DISTANT,
    Question,
    Tally,
    by_task,
    cell_names,
    kept_share,
    mean_difference,
    partly_usable,
    usable,
)
from xling.report.claims.verdict import Check, Over, Part, Relation, Unit
from xling.report.estimate import Estimate, difference, ratio
from xling.report.means import Means
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


def sharing_matters(results: Means) -> list[Part]:
    """4a: each further group of separate layers costs transfer, with shared and with separate embeddings."""
    cells = Cells(results.figure3)
    return [_falling(cells, (DEFAULT, SEP_3, SEP_6)), _falling(cells, (SEP_EMB, SEP_EMB_3, SEP_EMB_6))]


def shared_softmax_helps(results: Means) -> list[Part]:
    """4b: the mean of Sep Emb is below that of No anchors in each task."""
    cells = Cells(results.figure3)

    def judge(task: str, languages: Sequence[str]) -> list[Check]:
        effect = mean_difference(cells, NO_ANCHORS, SEP_EMB, task, languages)
        return [Check(TASKS[task], effect, Relation.ABOVE, cells=cell_names(task, languages))]

    return [by_task(cells, Question("mean of No anchors minus Sep Emb", Unit.POINTS, (NO_ANCHORS, SEP_EMB)), judge)]


def six_layers_cost_most(results: Means) -> list[Part]:
    """4c: the mean loss of Sep L1-6 is at least three times that of Sep L1-3.

    Where Sep L1-3 loses nothing there is no ratio: then Sep L1-6 must lose something.
    """
    cells, settings = Cells(results.figure3), (SEP_3, SEP_6)

    def losses(task: str, languages: Sequence[str]) -> list[Estimate]:
        return [mean_difference(cells, DEFAULT, name, task, languages) for name in settings]

    def times(task: str, languages: Sequence[str]) -> list[Check]:
        three, six = losses(task, languages)
        return [Check(TASKS[task], ratio(six, three), Relation.AT_LEAST, 3.0, cell_names(task, languages))]

    def loss(task: str, languages: Sequence[str]) -> list[Check]:
        _, six = losses(task, languages)
        return [Check(TASKS[task], six, Relation.ABOVE, cells=cell_names(task, languages))]

    ratios = Question("mean loss of Sep L1-6 over that of Sep L1-3", Unit.TIMES, settings)
    without = Question("mean loss of Sep L1-6 where Sep L1-3 loses nothing", Unit.POINTS, settings)
    found = {task: usable(cells, ratios, task, Tally()) for task in ALL_TASKS}
    free = [task for task, languages in found.items() if languages and losses(task, languages)[0].value <= 0]
    if not free:
        return [by_task(cells, ratios, times)]
    if not [task for task, languages in found.items() if languages and task not in free]:
        return [by_task(cells, without, loss)]
    costly = tuple(task for task in ALL_TASKS if task not in free)
    return [
        by_task(cells, replace(ratios, tasks=costly), times),
        by_task(cells, replace(without, tasks=tuple(free)), loss),
    ]


def nothing_shared_below_is_lowest(results: Means) -> list[Part]:
    """4d: Sep Emb + L1-6 is the lowest of all ten settings in every cell, and keeps at most .15 for ru and zh."""
    cells = Cells(results.figure3)
    kept = Question("kept share of Sep Emb + L1-6", Unit.SHARE, (SEP_EMB_6,), languages=DISTANT)
    return [_lowest(cells), kept_share(cells, SEP_EMB_6, Relation.AT_MOST, 0.15, kept)]


def closer_languages_transfer_better(results: Means) -> list[Part]:
    """5: fr is above ru and above zh in every row, and ru above zh on parsing (NER has another dataset for zh)."""
    cells = Cells(results.figure3)
    return [
        _nearer(cells, "fr", "ru", ALL_TASKS),
        _nearer(cells, "fr", "zh", ALL_TASKS),
        _nearer(cells, "ru", "zh", ("parsing",)),
    ]


def _falling(cells: Cells, chain: Sequence[str]) -> Part:
    tally = Tally()
    for task, language in product(ALL_TASKS, ALL_LANGUAGES):
        judged = partly_usable(cells, chain, task, language, tally)
        if judged is not None:
            steps = pairwise(name for name in chain if cells.has(name, task, language))
            tally.checks += [_step(cells, task, language, *step, judged) for step in steps]
    return tally.part(f"fall from {' to '.join(chain)}", Unit.POINTS)


def _lowest(cells: Cells) -> Part:
    tally = Tally()
    for task, language in product(ALL_TASKS, ALL_LANGUAGES):
        judged = partly_usable(cells, SETTINGS, task, language, tally)
        if judged is not None and cells.has(SEP_EMB_6, task, language):
            others = [name for name in SETTINGS if name != SEP_EMB_6 and cells.has(name, task, language)]
            lowest = min((cells.score(name, task, language) for name in others), key=lambda estimate: estimate.value)
            effect = difference(lowest, cells.score(SEP_EMB_6, task, language))
            where = f"{cell_name(task, language)} ({len(others) + 1} of {len(SETTINGS)} settings)"
            tally.checks.append(Check(where, effect, Relation.ABOVE, cells=judged, language=language))
    return tally.part("lowest other setting minus Sep Emb + L1-6", Unit.POINTS)


def _step(cells: Cells, task: str, language: str, upper: str, lower: str, judged: tuple[str, ...]) -> Check:
    effect = difference(cells.score(upper, task, language), cells.score(lower, task, language))
    where = f"{cell_name(task, language)}, {upper} to {lower}"
    return Check(where, effect, Relation.ABOVE, cells=judged, language=language)


def _nearer(cells: Cells, near: str, far: str, tasks: Sequence[str]) -> Part:
    tally = Tally()
    for task, setting in product(tasks, SETTINGS):
        place, clear = f"{TASKS[task]} {setting}", partial(_both_clear, cells, task, near, far)
        missing = [x for x in (near, far) if not all(cells.has(name, task, x) for name in (setting, DEFAULT))]
        if tally.ask(place, missing, clear):
            effect = difference(cells.score(setting, task, near), cells.score(setting, task, far))
            tally.checks.append(Check(place, effect, Relation.ABOVE))
    return tally.part(f"{near} minus {far}", Unit.POINTS, Over.ROWS)


def _both_clear(cells: Cells, task: str, near: str, far: str) -> bool:
    return cells.has_signal(task, near) and cells.has_signal(task, far)
