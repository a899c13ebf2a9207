"""Claims 1 to 5 on Table 1: anchors and domain, parameter sharing, language similarity (sections 4.1 to 4.4)."""

from collections.abc import Callable, Sequence
from itertools import pairwise, product

from xling.report.claims.parts import Claims, Part, Unit
from xling.report.evidence import Value, mean, share, steady, worst
from xling.report.measured import Study, kept_share
from xling.report.names import (
    DEFAULT,
    DEFAULT_ANCHORS,
    EXTRA_ANCHORS,
    NO_ANCHORS,
    SEP_3,
    SEP_6,
    SEP_EMB,
    SEP_EMB_3,
    SEP_EMB_6,
    SETTINGS,
    TASKS,
    WIKI_CC,
    cell_name,
)
from xling.report.rule import Relation

ALL_TASKS, NOT_NER = ("xnli", "ner", "parsing"), ("xnli", "parsing")
ALL_LANGUAGES, DISTANT = ("fr", "ru", "zh"), ("ru", "zh")
AT_LEAST, AT_MOST = Relation.AT_LEAST, Relation.AT_MOST
TRANSFER = Claims()


@TRANSFER.claim("1a", "at least three quarters of the transfer survive without anchors")
def anchors_not_needed(study: Study) -> list[Part]:
    """1a: No anchors keeps at least .75 (our border; published .93 to 1.02) of Default's transfer in every cell."""
    return [_kept_part(study, NO_ANCHORS, AT_LEAST, 0.75)]


@TRANSFER.claim(
    "1b", "with the same BPE, transfer without anchors is hardly worse than with the default ones, on XNLI and parsing"
)
def no_anchors_near_default_anchors(study: Study) -> list[Part]:
    """1b: No anchors is at most 2 points below Default anchors at paper scale, .15 of kept share elsewhere (ours)."""
    settings = (NO_ANCHORS, DEFAULT_ANCHORS)
    if study.paper_scale:
        part = Part("mean of No anchors minus Default anchors", Unit.POINTS, AT_LEAST, -2.0, ours=True)
        return [_by_task(study, part, settings, lambda *cell: _lead(study, *settings, *cell), NOT_NER)]
    what = "mean kept share of No anchors minus that of Default anchors"
    part = Part(what, Unit.SHARE, AT_LEAST, -0.15, ours=True)

    def lead(task: str, language: str) -> Value:
        gains = [study.gain(name, task, language) for name in settings]
        return share(gains[0] - gains[1], study.gain(DEFAULT, task, language), part.border)

    return [_by_task(study, part, settings, lead, NOT_NER)]


@TRANSFER.claim("2a", "extra anchors from a dictionary transfer better than no anchors, on XNLI and parsing")
def more_anchors_help(study: Study) -> list[Part]:
    """2a: Extra anchors is above No anchors in every XNLI and parsing cell."""
    part, settings = Part("Extra anchors minus No anchors", Unit.POINTS), (EXTRA_ANCHORS, NO_ANCHORS)
    for task, language in _cells(study, part, settings, NOT_NER):
        part.add(cell_name(task, language), _lead(study, *settings, task, language), language)
    return [part]


@TRANSFER.claim("2b", "extra anchors add more for Chinese, the distant language, than for French, on XNLI and NER")
def most_for_the_distant_pair(study: Study) -> list[Part]:
    """2b: what Extra anchors adds to Default is larger on zh than on fr, on XNLI and NER."""
    part = Part("lead of zh over fr in what Extra anchors adds to Default", Unit.POINTS)
    for task in ("xnli", "ner"):
        added = {
            language: _lead(study, EXTRA_ANCHORS, DEFAULT, task, language)
            for _, language in _cells(study, part, (EXTRA_ANCHORS,), (task,), ("fr", "zh"))
        }
        if len(added) == 2:
            part.add(TASKS[task], added["zh"] - added["fr"], cells=[cell_name(task, x) for x in added])
    return [part]


@TRANSFER.claim(
    "3", "text from another domain costs at most a tenth of the transfer on XNLI and parsing, and more of it on NER"
)
def domain_matters_little(study: Study) -> list[Part]:
    """3: Wiki-CC keeps at least .9 (our border) on average on XNLI and on parsing, and less on NER than on either."""
    level = Part("mean kept share of Wiki-CC", Unit.SHARE, AT_LEAST, 0.9, ours=True)
    _by_task(study, level, (WIKI_CC,), lambda task, x: kept_share(study, WIKI_CC, task, x, 0.9), NOT_NER)
    lead = Part("lead of the mean kept share of Wiki-CC over that on NER", Unit.SHARE)
    clear = {task: [x for _, x in _cells(study, lead, (WIKI_CC,), (task,))] for task in ("ner", *NOT_NER)}
    for task in NOT_NER:
        both = [language for language in clear[task] if language in clear["ner"]]  # means over the same languages
        if both:
            here, ner = (mean([kept_share(study, WIKI_CC, name, x) for x in both]) for name in (task, "ner"))
            cells = [cell_name(name, x) for name in (task, "ner") for x in both]
            lead.add(f"{TASKS[task]} against NER", here - ner, cells=cells)
    return [level, lead]


@TRANSFER.claim("4a", "the fewer layers two languages share, the worse the transfer")
def sharing_matters(study: Study) -> list[Part]:
    """4a: each further group of separate layers costs transfer, with shared and with separate embeddings."""
    return [_falling(study, (DEFAULT, SEP_3, SEP_6)), _falling(study, (SEP_EMB, SEP_EMB_3, SEP_EMB_6))]


@TRANSFER.claim("4b", "in each task separate embeddings and softmax gain less above their floor than no anchors do")
def shared_softmax_helps(study: Study) -> list[Part]:
    """4b: in each task Sep Emb gains less above its own floor, on average, than No anchors."""
    part = Part("mean gain above its floor of No anchors minus that of Sep Emb", Unit.POINTS)
    gains = [NO_ANCHORS, SEP_EMB]
    return [_by_task(study, part, gains, lambda *cell: study.gain(gains[0], *cell) - study.gain(gains[1], *cell))]


@TRANSFER.claim("4c", "in each task separating six layers costs at least three times as much as three")
def six_layers_cost_most(study: Study) -> list[Part]:
    """4c: the mean loss of Sep L1-6 is at least three times (our border) that of Sep L1-3.

    Where the loss of Sep L1-3 is too near to nothing for a ratio, what is judged stays the same, counted in points.
    """
    ratio = Part("mean loss of Sep L1-6 over that of Sep L1-3", Unit.TIMES, AT_LEAST, 3.0, ours=True)
    rest = Part("mean loss of Sep L1-6 minus three times that of Sep L1-3", Unit.POINTS, AT_LEAST, ours=True)
    for task in ALL_TASKS:
        languages = [language for _, language in _cells(study, ratio, (SEP_3, SEP_6), (task,))]
        if languages:
            three, six = (mean([_lead(study, DEFAULT, name, task, x) for x in languages]) for name in (SEP_3, SEP_6))
            cells = [cell_name(task, x) for x in languages]
            if steady(three):
                ratio.add(TASKS[task], share(six, three, 3.0), cells=cells)
            else:
                rest.add(TASKS[task], six - 3 * three, cells=cells)
    return [part for part in (ratio, rest) if part.checks] or [ratio]


@TRANSFER.claim(
    "4d",
    "separate embeddings and six separate layers transfer least of all ten settings, and keep at most .15 of "
    "the transfer to Russian and Chinese",
)
def nothing_shared_below_is_lowest(study: Study) -> list[Part]:
    """4d: Sep Emb + L1-6 is the lowest of all ten settings, and keeps at most .15 (our border) for ru and zh.

    A setting at its floor is not lower than another there: two are compared where one is clear of its floor.
    """
    part = Part("lowest other setting minus Sep Emb + L1-6", Unit.POINTS)
    for task, language in product(ALL_TASKS, ALL_LANGUAGES):
        whole = _usable(study, part, SETTINGS, task, language)
        if whole is None or not study.has(SEP_EMB_6, task, language):
            continue
        known = [name for name in SETTINGS if name != SEP_EMB_6 and study.has(name, task, language)]
        lowest_clear = study.clear(SEP_EMB_6, task, language)
        compared = [name for name in known if lowest_clear or study.clear(name, task, language)]
        lowest = worst([study.score(name, task, language) for name in compared])
        effect, where = lowest - study.score(SEP_EMB_6, task, language), cell_name(task, language)
        part.add(f"{where} (of {len(compared) + 1} settings)", effect, language, cells=(where,), partial=not whole)
    return [part, _kept_part(study, SEP_EMB_6, AT_MOST, 0.15, DISTANT)]


@TRANSFER.claim(
    "4e",
    "without tying the bottom three layers most of the transfer is left: three quarters, or half with separate "
    "embeddings",
)
def three_separate_layers_leave_most(study: Study) -> list[Part]:
    """4e: Sep L1-3 keeps at least .75 and Sep Emb + L1-3 at least .5 in every cell (our borders)."""
    return [_kept_part(study, SEP_3, AT_LEAST, 0.75), _kept_part(study, SEP_EMB_3, AT_LEAST, 0.5)]


@TRANSFER.claim(
    "5", "closer languages transfer better: French than Russian and Chinese, and in parsing Russian than Chinese"
)
def closer_languages_transfer_better(study: Study) -> list[Part]:
    """5: fr is above ru and above zh in every row, and ru above zh on parsing (NER has another dataset for zh)."""
    return [
        _nearer(study, "fr", "ru", ALL_TASKS),
        _nearer(study, "fr", "zh", ALL_TASKS),
        _nearer(study, "ru", "zh", ("parsing",)),
    ]


def _usable(study: Study, part: Part, settings: Sequence[str], task: str, language: str) -> bool | None:
    """Return whether a cell was run in full; None where there is nothing to judge: no Default, or no signal."""
    needed = dict.fromkeys((DEFAULT, *settings))
    missing = [name for name in needed if not study.has(name, task, language)]
    if part.ask(cell_name(task, language), missing, lambda: study.clear(DEFAULT, task, language)):
        return True
    return False if missing and DEFAULT not in missing and study.clear(DEFAULT, task, language) else None


def _cells(
    study: Study,
    part: Part,
    settings: Sequence[str],
    tasks: Sequence[str] = ALL_TASKS,
    languages: Sequence[str] = ALL_LANGUAGES,
) -> list[tuple[str, str]]:
    """Return the cells that can be judged in full, and note why the others cannot."""
    return [cell for cell in product(tasks, languages) if _usable(study, part, settings, *cell)]


def _by_task(
    study: Study,
    part: Part,
    settings: Sequence[str],
    value: Callable[[str, str], Value],
    tasks: Sequence[str] = ALL_TASKS,
) -> Part:
    for task in tasks:
        if cells := _cells(study, part, settings, (task,)):
            judged = [cell_name(*cell) for cell in cells]
            part.add(TASKS[task], mean([value(*cell) for cell in cells]), cells=judged)
    return part


def _lead(study: Study, upper: str, lower: str, task: str, language: str) -> Value:
    return study.score(upper, task, language) - study.score(lower, task, language)


def _kept_part(
    study: Study, setting: str, relation: Relation, border: float, languages: Sequence[str] = ALL_LANGUAGES
) -> Part:
    part = Part(f"kept share of {setting}", Unit.SHARE, relation, border, ours=True)
    for task, language in _cells(study, part, (setting,), languages=languages):
        shown = steady(study.gain(DEFAULT, task, language))
        part.add(cell_name(task, language), kept_share(study, setting, task, language, border), language, shown=shown)
    return part


def _falling(study: Study, chain: Sequence[str]) -> Part:
    part = Part(f"fall from {' to '.join(chain)}", Unit.POINTS)
    for task, language in product(ALL_TASKS, ALL_LANGUAGES):
        whole, where = _usable(study, part, chain, task, language), cell_name(task, language)
        if whole is None:
            continue
        for step in pairwise(name for name in chain if study.has(name, task, language)):
            effect = _lead(study, *step, task, language)
            part.add(f"{where}, {' to '.join(step)}", effect, language, cells=(where,), partial=not whole)
    return part


def _nearer(study: Study, near: str, far: str, tasks: Sequence[str]) -> Part:
    part = Part(f"{near} minus {far}", Unit.POINTS, over="rows")
    for task, setting in product(tasks, SETTINGS):
        place = f"{TASKS[task]} {setting}"
        missing = [x for x in (near, far) if not study.has(setting, task, x)]
        if part.ask(place, missing, lambda s=setting, t=task: study.clear(s, t, near)):  # type: ignore[misc]
            part.add(place, study.score(setting, task, near) - study.score(setting, task, far))
    return part
