"""The parts of the claims: inequalities over the cells of Table 1 (sections 4.1 to 4.4) and over curves (section 5).

Each function here fills a part of a claim with the values of a study. The paper says "far above" without a number; here
it means 5 points, a threshold of ours that also defines signal in Table 1. A curve is judged by its best layer.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise, product

import numpy as np

from xling.report import names
from xling.report.measured import SIGNAL, Curve, Study, difference, is_signal, kept_share, lead_of
from xling.report.models import BI_MLM, BI_MLM_ALIGN, BILINGUAL, MLM_ALIGN, MONOLINGUAL, TRAINED, UNTRAINED
from xling.report.names import DEFAULT, OTHERS, PAIRS, SEP_3, SEP_6, SEP_EMB_6, SETTINGS, TASKS, cell_name
from xling.report.rule import Part, Relation, Unit
from xling.report.value import Value, best, mean, pearson, share, steady, worst

ALL_TASKS, NOT_NER = ("xnli", "ner", "parsing"), ("xnli", "parsing")
ALL_LANGUAGES = ("fr", "ru", "zh")
EXCEPTION = ("parsing", "fr")  # here the paper's aligned models are not below the bilingual model
FEWEST_LAYERS = 3  # two points are always on a line
ABOVE, AT_LEAST, AT_MOST = Relation
CellValue = Callable[[str, str], Value]  # from a task and a language

# --- Table 1 ---------------------------------------------------------------------------------------------------------


def usable(study: Study, part: Part, settings: Iterable[str], task: str, language: str) -> bool:
    """Return whether a cell can be judged: Default and all the settings were run in it, and Default has signal."""
    missing = [name for name in dict.fromkeys((DEFAULT, *settings)) if not study.has(name, task, language)]
    return part.ask(cell_name(task, language), missing, study.clear(DEFAULT, task, language))


def by_cell(
    study: Study, part: Part, settings: Sequence[str], value: CellValue, cells: Iterable[tuple[str, str]]
) -> Part:
    """Judge each cell by a value; a kept share is not shown if the gain of Default is too noisy."""
    for cell in cells:
        if usable(study, part, settings, *cell):
            shown = part.unit is not Unit.SHARE or steady(study.gain(DEFAULT, *cell))
            part.add(cell_name(*cell), value(*cell), cell[1], shown=shown)
    return part


def by_task(
    study: Study, part: Part, settings: Sequence[str], value: CellValue, tasks: Sequence[str] = ALL_TASKS
) -> Part:
    """Judge each task by the mean of a value over its cells."""
    for task in tasks:
        if judged := [x for x in ALL_LANGUAGES if usable(study, part, settings, task, x)]:
            part.add(TASKS[task], mean([value(task, x) for x in judged]), cells=[cell_name(task, x) for x in judged])
    return part


def leads(study: Study, upper: str, lower: str, tasks: Sequence[str]) -> Part:
    """Judge in each cell the score of `upper` minus the score of `lower`."""
    part, cells = Part(f"{upper} minus {lower}"), product(tasks, ALL_LANGUAGES)
    return by_cell(study, part, (upper, lower), partial(study.lead, upper, lower), cells)


def kept(
    study: Study, setting: str, relation: Relation, threshold: float, languages: Sequence[str] = ALL_LANGUAGES
) -> Part:
    """Judge in each cell the share of Default's transfer that a setting keeps; the threshold is ours."""
    part = Part(f"kept share of {setting}", Unit.SHARE, relation, threshold, ours=True)
    value = partial(kept_share, study, setting)
    return by_cell(study, part, (setting,), value, product(ALL_TASKS, languages))


def hardly_worse(study: Study) -> Part:
    """Judge in each task except NER how far No anchors is below Default anchors on average.

    It may be at most 2 points at paper scale, otherwise at most .15 of Default's transfer. Both thresholds are ours.
    """
    settings = (names.NO_ANCHORS, names.DEFAULT_ANCHORS)
    if study.paper_scale:
        part = Part("mean of No anchors minus Default anchors", Unit.POINTS, AT_LEAST, -2.0, ours=True)
        return by_task(study, part, settings, partial(study.lead, *settings), NOT_NER)
    what = "mean kept share of No anchors minus that of Default anchors"
    part = Part(what, Unit.SHARE, AT_LEAST, -0.15, ours=True)
    lead, default = partial(study.lead_above_floors, *settings), partial(study.gain, DEFAULT)
    return by_task(study, part, settings, lambda *cell: share(lead(*cell), default(*cell)), NOT_NER)


def more_for_the_distant(study: Study) -> Part:
    """Judge on XNLI and NER the gain of Extra anchors over Default for Chinese minus that for French."""
    part, setting = Part("lead of zh over fr in what Extra anchors adds to Default"), names.EXTRA_ANCHORS
    for task in ("xnli", "ner"):
        judged = [x for x in ("fr", "zh") if usable(study, part, (setting,), task, x)]
        if len(judged) == 2:
            fr, zh = (study.lead(setting, DEFAULT, task, x) for x in judged)
            part.add(TASKS[task], zh - fr, cells=[cell_name(task, x) for x in judged])
    return part


def over_ner(study: Study, setting: str) -> Part:
    """Judge the mean kept share of a setting in each other task minus that in NER, over the same languages."""
    part = Part(f"lead of the mean kept share of {setting} over that on NER", Unit.SHARE)
    clear = {t: [x for x in ALL_LANGUAGES if usable(study, part, (setting,), t, x)] for t in ("ner", *NOT_NER)}
    for task in NOT_NER:
        if both := [language for language in clear[task] if language in clear["ner"]]:
            here, ner = (mean([kept_share(study, setting, name, x) for x in both]) for name in (task, "ner"))
            cells = [cell_name(name, x) for name in (task, "ner") for x in both]
            part.add(f"{TASKS[task]} against NER", here - ner, cells=cells)
    return part


def falling(study: Study, *chain: str) -> Part:
    """Judge the fall in score from each setting of a chain to the next; settings that were not run are skipped."""
    part = Part(f"fall from {' to '.join(chain)}")
    for cell in product(ALL_TASKS, ALL_LANGUAGES):
        whole, where = usable(study, part, chain, *cell), cell_name(*cell)
        for step in pairwise(name for name in chain if study.clear(DEFAULT, *cell) and study.has(name, *cell)):
            place = f"{where}, {' to '.join(step)}"
            part.add(place, study.lead(*step, *cell), cell[1], cells=[where], partial=not whole)
    return part


def six_over_three(study: Study) -> list[Part]:
    """Judge in each task whether the mean loss of Sep L1-6 is at least three times (our threshold) that of Sep L1-3.

    If the loss of Sep L1-3 is too close to zero for a ratio, the same inequality is judged as a difference in points.
    """
    ratio = Part("mean loss of Sep L1-6 over that of Sep L1-3", Unit.TIMES, AT_LEAST, 3.0, ours=True)
    rest = Part("mean loss of Sep L1-6 minus three times that of Sep L1-3", Unit.POINTS, AT_LEAST, ours=True)
    for task in ALL_TASKS:
        if judged := [x for x in ALL_LANGUAGES if usable(study, ratio, (SEP_3, SEP_6), task, x)]:
            three, six = (mean([study.lead(DEFAULT, name, task, x) for x in judged]) for name in (SEP_3, SEP_6))
            part, effect = (ratio, share(six, three)) if steady(three) else (rest, six - 3 * three)
            part.add(TASKS[task], effect, cells=[cell_name(task, x) for x in judged])
    return [part for part in (ratio, rest) if part.checks] or [ratio]


def lowest(study: Study) -> Part:
    """Judge in each cell whether Sep Emb + L1-6 is the lowest of all ten settings.

    Two settings are compared only if at least one has signal: if both are at their floors, neither counts as lower.
    """
    part = Part("lowest setting compared with Sep Emb + L1-6, minus that one")
    for cell in product(ALL_TASKS, ALL_LANGUAGES):
        whole, where = usable(study, part, SETTINGS, *cell), cell_name(*cell)
        if study.clear(DEFAULT, *cell) and study.has(SEP_EMB_6, *cell):
            known = [name for name in SETTINGS if name != SEP_EMB_6 and study.has(name, *cell)]
            compared = [name for name in known if study.clear(SEP_EMB_6, *cell) or study.clear(name, *cell)]
            effect = worst([study.score(name, *cell) for name in compared]) - study.score(SEP_EMB_6, *cell)
            part.add(f"{where} (of {len(compared) + 1} settings)", effect, cell[1], cells=[where], partial=not whole)
    return part


def nearer(study: Study, near: str, far: str, tasks: Sequence[str] = ALL_TASKS) -> Part:
    """Judge the score in the nearer language, which must have signal, minus that in the farther, per row of Table 1."""
    part = Part(f"{near} minus {far}", over="rows")
    for task, setting in product(tasks, SETTINGS):
        place, missing = f"{TASKS[task]} {setting}", [x for x in (near, far) if not study.has(setting, task, x)]
        if part.ask(place, missing, study.clear(setting, task, near)):
            part.add(place, study.score(setting, task, near) - study.score(setting, task, far))
    return part


# --- curves ----------------------------------------------------------------------------------------------------------


def by_pair(part: Part, value: Callable[[str], Value | None], languages: Iterable[str] = OTHERS) -> Part:
    """Judge each pair of English and another language by a value, which is None if the pair was not run."""
    part.over = "pairs"
    for language in languages:
        part.add(f"en-{language}", value(language), language)
    return part


def over_other(study: Study, what: str, relation: Relation, figure: str, *series: str) -> Part:
    """Judge for each language the best layer of the first curve minus the best layer of the second."""
    part = Part(what, Unit.POINTS, relation)
    return by_pair(part, lambda x: difference(*(study.best(figure, x, name) for name in series)))


def far_above(study: Study, what: str, figure: str, name: str, note: str = "") -> Part:
    """Judge for each language whether the best layer of a curve is far above chance and the untrained encoder."""

    def value(language: str) -> Value | None:
        top, floor = (study.best(figure, language, of) for of in (name, UNTRAINED))
        return top - best([floor, 0 * floor + study.word_chance[figure, language]]) if top and floor else None

    what = f"lead of {what} over chance and the untrained encoder{note}"
    return by_pair(Part(what, Unit.POINTS, AT_LEAST, SIGNAL, ours=True), value)


def contextual_states(study: Study) -> list[Part]:
    """Judge claim 6b on Figures 5 and 8: aligned hidden states compared with those of a bilingual model."""
    below = Part("biMLM minus MLM align, but for parsing fr (Figure 5)")
    inside = Part("best middle layer of MLM align minus best other layer (Figure 5)", Unit.POINTS, AT_LEAST)
    gap = Part("mean gap between biMLM and MLM align in NER minus that in parsing (Figure 5)")
    added = {
        task: Part(f"what alignment adds to biMLM on average in {TASKS[task]} (Figure 8)", Unit.POINTS, relation)
        for task, relation in (("parsing", ABOVE), ("ner", AT_MOST))
    }

    def curve(task: str, language: str, series: str, encoder: str = TRAINED) -> Curve:
        return study.curve("contextual", task, language, series, encoder)

    def lead(task: str, language: str, *series: str) -> Value:
        left, right = (best(list(curve(task, language, name).values())) for name in series)
        return left - right

    def clear(task: str, language: str) -> bool:
        """Return whether biMLM has signal; it is the Default model, so the rule of Table 1 applies."""
        model, floor = (curve(task, language, BI_MLM, encoder) for encoder in (TRAINED, UNTRAINED))
        top = max(model, key=lambda layer: model[layer].observed, default=0)
        return top in model and is_signal(model[top] - floor[top] if top in floor else model[top])

    def panels(part: Part, task: str, series: str) -> list[str]:
        asked = [x for x in ALL_LANGUAGES if part is not below or (task, x) != EXCEPTION]
        missing = {x: [name for name in (BI_MLM, series) if not curve(task, x, name)] for x in asked}
        return [x for x in asked if part.ask(cell_name(task, x), missing[x], clear(task, x))]

    gaps = {}
    for task in ("ner", "parsing"):
        for language in panels(below, task, MLM_ALIGN):
            below.add(cell_name(task, language), lead(task, language, BI_MLM, MLM_ALIGN), language)
        for language in panels(inside, task, MLM_ALIGN):
            inside.add(cell_name(task, language), lead_of("middle", curve(task, language, MLM_ALIGN)), language)
        gaps[task] = {x: lead(task, x, BI_MLM, MLM_ALIGN) for x in panels(gap, task, MLM_ALIGN)}
        if helped := panels(added[task], task, BI_MLM_ALIGN):
            effect = mean([lead(task, x, BI_MLM_ALIGN, BI_MLM) for x in helped])
            added[task].add(f"mean over {', '.join(helped)}", effect, cells=[cell_name(task, x) for x in helped])
    if both := [language for language in gaps["ner"] if language in gaps["parsing"]]:
        ner, parsing = (mean([gaps[task][language] for language in both]) for task in gaps)
        cells = [cell_name(task, language) for task in gaps for language in both]
        gap.add(f"mean over {', '.join(both)}", ner - parsing, cells=cells)
    return [below, inside, gap, *added.values()]


def more_alike(study: Study, upper: str, lower: str) -> Part:
    """Judge for each pair the CKA of the models `upper` minus that of the models `lower`, averaged over layers."""
    part = Part(f"average CKA, {upper} minus {lower}", Unit.CKA)
    languages = map(names.other_language, PAIRS)
    return by_pair(part, lambda x: study.lead_in_cka(f"en-{x}", upper, lower), languages)


def first_layers(study: Study) -> Part:
    """Judge for each pair and kind of model the best of the first layers minus the best of the other layers."""
    part = Part("best of L0 to L2 minus best of the layers above", Unit.CKA, AT_LEAST, over="curves")
    for pair, model in product(PAIRS, (BILINGUAL, MONOLINGUAL)):
        lead = lead_of("first", study.curve("figure7", pair, model))
        part.add(f"{pair} {model}", lead, names.other_language(pair))
    return part


def shrinking(study: Study) -> Part:
    """Judge whether the CKA added by sharing a model shrinks with distance: French, German > Russian > Chinese."""
    part = Part("lead of the nearer pair in bilingual minus monolingual", Unit.CKA, over="comparisons")
    for pairs in (("en-fr", "en-ru"), ("en-de", "en-ru"), ("en-ru", "en-zh")):
        added = (study.lead_in_cka(pair, BILINGUAL, MONOLINGUAL) for pair in pairs)
        part.add(" over ".join(pairs), difference(*added))
    return part


def correlation(study: Study) -> Part:
    """Judge for each language whether monolingual CKA and sentence retrieval correlate above .9 over the layers."""
    what = "Pearson correlation of monolingual CKA with sentence retrieval"
    part = Part(what, Unit.PEARSON, threshold=0.9, over="pairs")
    for language in OTHERS:
        alike = study.curve("figure7", f"en-{language}", MONOLINGUAL)
        found = study.curve("figure6", language, MONOLINGUAL)
        curves = [[curve[layer] for layer in found if layer in alike] for curve in (alike, found)]
        enough = len(curves[0]) >= FEWEST_LAYERS
        if part.ask(f"en-{language}", [] if enough else ["layers"], enough and all(map(_varies, curves))):
            part.add(f"en-{language}", pearson(*curves), language)
    return part


def _varies(curve: Sequence[Value]) -> bool:
    """Return whether the layers differ by more than their noise; otherwise their correlation means nothing."""
    noise = np.mean([value.spread**2 for value in curve])
    return bool(np.var([value.observed for value in curve], ddof=1) > noise)
