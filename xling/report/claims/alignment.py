"""Claims 6 and 7: alignment of independent models (section 5.1) and similarity of encoders (section 5.2).

The paper says "far above" without a number; here it means 5 points, our border, as for a cell of Table 1. A curve is
judged by its best layer.
"""

from collections.abc import Sequence

import numpy as np

from xling.report.claims.parts import Claims, Part, Unit
from xling.report.evidence import Value, best, mean, pearson
from xling.report.measured import SIGNAL, Curve, Study, halves, others, upper_minus_lower
from xling.report.names import OTHERS, PAIRS, TASKS, cell_name, other_language
from xling.report.records import (
    BERT,
    BI_MLM,
    BI_MLM_ALIGN,
    BILINGUAL,
    FASTTEXT,
    MLM_ALIGN,
    MONOLINGUAL,
    RANDOM,
    TRAINED,
    UNTRAINED,
)
from xling.report.rule import Relation

CONTEXTUAL_TASKS, CONTEXTUAL_LANGUAGES = ("ner", "parsing"), ("fr", "ru", "zh")
EXCEPTION = ("parsing", "fr")  # where the paper's aligned models are not below the bilingual one
FIRST_LAYERS = (0, 1, 2)  # "the first few layers": the paper has L0 or L1 in all ten curves
NEARER = (("en-fr", "en-ru"), ("en-de", "en-ru"), ("en-ru", "en-zh"))
FEWEST_LAYERS = 3  # two points are always on a line
LEAD = "lead of {} over chance and the untrained encoder"
UNPRINTED = "said in the text; the figure was not published as numbers"
ALIGNMENT = Claims()


@ALIGNMENT.claim(
    "6a",
    "words of independently trained models can be aligned far above chance: embeddings at least as well as "
    "fastText, words in context less well, and better in upper layers",
    source="Figures 4a, 4b",
    paper=UNPRINTED,
)
def words_align(study: Study) -> list[Part]:
    """6a: embeddings level with fastText; contextual averages below it, best in upper layers; all far above chance."""
    level = Part("embedding matrix minus fastText (Figure 4a)", Unit.POINTS, Relation.AT_LEAST, over="pairs")
    behind = Part("fastText minus best contextual layer (Figure 4b)", Unit.POINTS, over="pairs")
    rising = Part("mean of upper minus mean of lower layers (Figure 4b)", Unit.POINTS, over="pairs")
    far = [
        _far(LEAD.format("the embedding matrix") + " (4a)"),
        _far(LEAD.format("the best contextual layer") + " (4b)"),
    ]
    for language in OTHERS:
        static, fast = (study.curve("figure4a", language, vectors) for vectors in (BERT, FASTTEXT))
        layers, reference = (study.curve("figure4b", language, vectors) for vectors in (BERT, FASTTEXT))
        _note(level, language, _best(static) - _best(fast) if static and fast else None)
        _note(behind, language, _best(reference) - _best(layers) if layers and reference else None)
        _note(rising, language, upper_minus_lower(layers))
        for part, figure, curve in zip(far, ("figure4a", "figure4b"), (static, layers), strict=True):
            _note(part, language, _above_floor(study, figure, language, curve))
    return [level, behind, rising, *far]


@ALIGNMENT.claim(
    "6b",
    "aligned contextual states transfer less than a bilingual model's (parsing French aside), most from a "
    "middle layer, with the larger gap in NER, and aligning the bilingual model helps in parsing only",
    source="Figures 5, 8",
    paper=UNPRINTED,
)
def contextual_states_align(study: Study) -> list[Part]:
    """6b: aligned below bilingual but for parsing en-fr; best in the middle; NER's gap larger; 8 helps parsing only."""
    below = Part("biMLM minus MLM align, but for parsing fr (Figure 5)", Unit.POINTS)
    inside = Part("best middle layer of MLM align minus best other layer (Figure 5)", Unit.POINTS, Relation.AT_LEAST)
    gap = Part("mean gap between biMLM and MLM align in NER minus that in parsing (Figure 5)", Unit.POINTS)
    added = {
        task: Part(f"what alignment adds to biMLM on average in {TASKS[task]} (Figure 8)", Unit.POINTS, relation)
        for task, relation in (("parsing", Relation.ABOVE), ("ner", Relation.AT_MOST))
    }
    gaps = {}
    for task in CONTEXTUAL_TASKS:
        for language in _panels(study, below, task, MLM_ALIGN, skip=EXCEPTION):
            below.add(cell_name(task, language), _gap(study, task, language, BI_MLM, MLM_ALIGN), language)
        for language in _panels(study, inside, task, MLM_ALIGN):
            curve = _contextual(study, task, language, MLM_ALIGN)
            middle = halves(curve)[1]
            rest = others(curve, middle)
            _note(inside, language, _best(middle) - best(rest) if middle and rest else None, cell_name(task, language))
        gaps[task] = {x: _gap(study, task, x, BI_MLM, MLM_ALIGN) for x in _panels(study, gap, task, MLM_ALIGN)}
        if helped := _panels(study, added[task], task, BI_MLM_ALIGN):
            effect = mean([_gap(study, task, x, BI_MLM_ALIGN, BI_MLM) for x in helped])
            added[task].add(_over(helped), effect, cells=[cell_name(task, x) for x in helped])
    both = [language for language in gaps["ner"] if language in gaps["parsing"]]
    if both:
        ner, parsing = (mean([gaps[task][language] for language in both]) for task in CONTEXTUAL_TASKS)
        cells = [cell_name(task, language) for task in CONTEXTUAL_TASKS for language in both]
        gap.add(_over(both), ner - parsing, cells=cells)
    return [below, inside, gap, *added.values()]


@ALIGNMENT.claim(
    "6c",
    "sentences of independently trained models can be aligned far above chance, best at the lower layers",
    source="Figure 6",
    paper=UNPRINTED,
)
def sentences_align(study: Study) -> list[Part]:
    """6c: sentence retrieval is far above chance and the untrained encoder, and best at lower layers."""
    far = _far(LEAD.format("the best layer"))
    low = Part("best lower layer minus best layer above", Unit.POINTS, Relation.AT_LEAST, over="pairs")
    for language in OTHERS:
        curve = study.curve("figure6", language, MONOLINGUAL)
        lower = halves(curve)[0]
        _note(far, language, _above_floor(study, "figure6", language, curve))
        _note(low, language, _best(lower) - best(others(curve, lower)) if lower else None)
    return [far, low]


@ALIGNMENT.claim(
    "7a",
    "averaged over layers, bilingual models are more alike across languages than monolingual ones, and those "
    "more than random encoders",
    source="Figure 7",
)
def bilingual_over_monolingual_over_random(study: Study) -> list[Part]:
    """7a: on average over the layers bilingual models are most alike, then monolingual ones, then random encoders."""
    parts = []
    for upper, lower in ((BILINGUAL, MONOLINGUAL), (MONOLINGUAL, RANDOM)):
        part = Part(f"average CKA, {upper} minus {lower}", Unit.CKA, over="pairs")
        for pair in PAIRS:
            _note(part, other_language(pair), _difference(study.average(pair, upper), study.average(pair, lower)))
        parts.append(part)
    return parts


@ALIGNMENT.claim(
    "7b",
    "one of the first layers, 0 to 2, is most alike, and sharing a model adds less for distant languages",
    source="Figure 7",
)
def first_layers_most_alike(study: Study) -> list[Part]:
    """7b: the best layer is one of L0 to L2, and what a shared model adds shrinks with distance (fr, de > ru > zh)."""
    first = Part("best of L0 to L2 minus best of the layers above", Unit.CKA, Relation.AT_LEAST, over="curves")
    for pair in PAIRS:
        for model in (BILINGUAL, MONOLINGUAL):
            curve = study.curve("figure7", pair, model)
            below = {layer: value for layer, value in curve.items() if layer in FIRST_LAYERS}
            above = others(curve, below)
            lead = _best(below) - best(above) if below and above else None
            _note(first, other_language(pair), lead, f"{pair} {model}")
    shrinking = Part("lead of the nearer pair in bilingual minus monolingual", Unit.CKA, over="comparisons")
    added = {x: _difference(study.average(x, BILINGUAL), study.average(x, MONOLINGUAL)) for x in PAIRS}
    for near, far in NEARER:
        _note(shrinking, None, _difference(added[near], added[far]), f"{near} over {far}")
    return [first, shrinking]


@ALIGNMENT.claim(
    "7c",
    "over the layers, similarity and sentence retrieval correlate above .9",
    source="Figures 6, 7",
    paper="over 0.9 for all four pairs (stated in the text)",
)
def similarity_tracks_retrieval(study: Study) -> list[Part]:
    """7c: over the layers, monolingual CKA correlates with sentence retrieval by more than .9 for each language."""
    part = Part(
        "Pearson correlation of monolingual CKA with sentence retrieval", Unit.PEARSON, border=0.9, over="pairs"
    )
    for language in OTHERS:
        alike = study.curve("figure7", f"en-{language}", MONOLINGUAL)
        found = study.curve("figure6", language, MONOLINGUAL)
        layers = [layer for layer in found if layer in alike]
        curves = [[curve[layer] for layer in layers] for curve in (alike, found)]
        missing = ["layers"] if len(layers) < FEWEST_LAYERS else []
        if part.ask(f"en-{language}", missing, lambda c=curves: all(map(_varies, c))):  # type: ignore[misc]
            part.add(f"en-{language}", pearson(*curves), language)
    return [part]


def _varies(curve: Sequence[Value]) -> bool:
    """Return whether layers differ by more than their noise; otherwise a correlation of them says nothing."""
    noise = np.mean([value.spread**2 for value in curve])
    return bool(np.var([value.observed for value in curve], ddof=1) > noise)


def _far(what: str) -> Part:
    return Part(what, Unit.POINTS, Relation.AT_LEAST, SIGNAL, "pairs", ours=True)


def _best(curve: Curve) -> Value:
    return best(list(curve.values()))


def _difference(left: Value | None, right: Value | None) -> Value | None:
    return left - right if left and right else None


def _above_floor(study: Study, figure: str, language: str, curve: Curve) -> Value | None:
    floor = study.curve(figure, language, UNTRAINED)
    if not curve or not floor:
        return None
    chance = 0 * _best(floor) + study.word_chance[figure, language]
    return _best(curve) - best([*floor.values(), chance])


def _contextual(study: Study, task: str, language: str, series: str, encoder: str = TRAINED) -> Curve:
    return study.curve("contextual", task, language, series, encoder)


def _panels(study: Study, part: Part, task: str, series: str, skip: tuple[str, str] | None = None) -> list[str]:
    """Return the languages of a task that can be judged: biMLM is the Default model, so the rule of Table 1 holds."""

    def clear(language: str) -> bool:
        curve = _contextual(study, task, language, BI_MLM)
        floor = _contextual(study, task, language, BI_MLM, UNTRAINED)
        top = max(curve, key=lambda layer: curve[layer].observed)
        return curve[top].observed - (floor[top].observed if top in floor else 0.0) >= SIGNAL - 1e-9

    def asked(language: str) -> bool:
        missing = [name for name in (BI_MLM, series) if not _contextual(study, task, language, name)]
        return part.ask(cell_name(task, language), missing, lambda: clear(language))

    return [language for language in CONTEXTUAL_LANGUAGES if (task, language) != skip and asked(language)]


def _gap(study: Study, task: str, language: str, left: str, right: str) -> Value:
    return _best(_contextual(study, task, language, left)) - _best(_contextual(study, task, language, right))


def _note(part: Part, language: str | None, value: Value | None, where: str = "") -> None:
    place = where or f"en-{language}"
    if value is None:
        part.not_run.append(place)
    else:
        part.add(place, value, language)


def _over(languages: Sequence[str]) -> str:
    return f"mean over {', '.join(languages)}"
