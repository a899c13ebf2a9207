"""The results of a made-up study that shows everything the paper says, without noise."""

import re
from dataclasses import replace
from itertools import product

from xling.report.claims.all import CLAIMS
from xling.report.measured import Study
from xling.report.models import BERT, BI_MLM, BI_MLM_ALIGN, FASTTEXT, MLM_ALIGN, UNTRAINED
from xling.report.names import PAIRS, SETTINGS
from xling.report.records import KINDS, Cell, CkaScore, ContextualScore, Results, SentenceScore, WordScore
from xling.report.rule import Relation

Key = tuple[str, str, str]
BY_NUMBER = {claim.number: claim for claim in CLAIMS}
TASKS, CELL_LANGUAGES = ("xnli", "ner", "parsing"), ("fr", "ru", "zh")
D, CC, NA, DA, EA, SE, L3, L6, SE3, SE6 = SETTINGS
DEFAULT, FLOOR = {"fr": 90.0, "ru": 70.0, "zh": 50.0}, 10.0  # so Default is 80, 60 and 40 above the floor
LOSS = {D: 0, CC: 2, NA: 4, DA: 3, SE: 6, L3: 5, L6: 25, SE3: 10}
ADDED, LOWEST = {"fr": 1, "ru": 2, "zh": 3}, {"fr": 45.0, "ru": 13.0, "zh": 12.0}  # Extra anchors; Sep Emb + L1-6
LANGUAGES, TOP, LAYERS = ("fr", "de", "ru", "zh"), 8, range(9)
MODELS = (("monolingual", 80.0, 5), (UNTRAINED, 30.0, 0))  # P@1 of sentences at layer 0, and its fall by layer
GAP = dict(zip(PAIRS, (0.10, 0.11, 0.12, 0.08, 0.01), strict=True))
MIDDLE = (10, 20, 30, 40, 45, 40, 30, 20, 10)  # best at layer 4
SERIES = {
    MLM_ALIGN: {"ner": 0, "parsing": 10},
    BI_MLM: {"ner": 30, "parsing": 20},
    BI_MLM_ALIGN: {"ner": 29, "parsing": 22},
}


def base_score(setting, task, language):
    """Return a score of a study that shows everything the paper shows."""
    if setting == SE6:
        return LOWEST[language]
    if setting == EA:
        return DEFAULT[language] + ADDED[language]
    return DEFAULT[language] - (5 if (setting, task) == (CC, "ner") else LOSS[setting])


def table(changes=None, drop=(), paper_scale=False):
    """Return Table 1 of that study with some scores changed and some settings, tasks or languages not run."""
    keys = [key for key in product(SETTINGS, TASKS, CELL_LANGUAGES) if not {*key} & {*drop}]
    scores = {key: base_score(*key) for key in keys} | dict(changes or {})
    return Results(figure3=tuple(cell(*key, score) for key, score in scores.items()), paper_scale=paper_scale)


def cell(setting, task, language, score, **more):
    return Cell(setting=setting, task=task, language=language, score=score, **{"chance": FLOOR} | more)


def whole(setting, task, fr, ru, zh):
    return {(setting, task, "fr"): fr, (setting, task, "ru"): ru, (setting, task, "zh"): zh}


def curves():
    """Return Figures 4 to 8 of that study."""

    def words(language, vectors, p1, layer=None):
        ends = {"low": p1 - 2, "high": p1 + 2, "chance": 0.1, "pairs": 1211}
        return WordScore(language=language, vectors=vectors, p1=p1, layer=layer, **ends)

    static = {BERT: 41.0, FASTTEXT: 40.0, UNTRAINED: 2.0}
    layered = [words(x, FASTTEXT, 50.0) for x in LANGUAGES]
    layered += [words(x, BERT, 20.0 + 2 * n, n) for x in LANGUAGES for n in LAYERS]
    layered += [words(x, UNTRAINED, 3.0, n) for x in LANGUAGES for n in LAYERS]
    sentences = [
        SentenceScore(language=x, model=m, direction=d, layer=n, p1=p1, low=p1 - 3, high=p1 + 3, chance=0.1)
        for x, (m, top, slope), d, n in product(LANGUAGES, MODELS, ("en-x", "x-en"), LAYERS)
        for p1 in [top - slope * n]
    ]
    cka = [
        CkaScore(layer=f"L{n}", pair=p, model=m, cka=start + GAP[p] * (m == "bilingual") - 0.02 * n)
        for p, (m, start), n in product(PAIRS, (("bilingual", 0.7), ("monolingual", 0.7), ("random", 0.5)), LAYERS)
    ]
    return Results(
        figure4a=tuple(words(x, v, p1) for x in LANGUAGES for v, p1 in static.items()),
        figure4b=tuple(layered),
        figure5=contextual(MLM_ALIGN, BI_MLM),
        figure6=tuple(sentences),
        figure7=tuple(cka),
        figure8=contextual(BI_MLM, BI_MLM_ALIGN),
    )


def contextual(*series):
    return tuple(
        ContextualScore(task=task, language=x, series=name, encoder=encoder, layer=n, score=score)
        for name, task, x, n in product(series, ("ner", "parsing"), CELL_LANGUAGES, LAYERS)
        for encoder, score in (("trained", MIDDLE[n] + SERIES[name][task]), (UNTRAINED, 5.0))
    )


def changed(figure, field, value, **where):
    """Return the curves with a field set to a number, or raised by what a text says, in the records that match."""
    results = curves()
    if figure in ("figure5", "figure8"):
        where.setdefault("encoder", "trained")
    records = tuple(
        replace(record, **{field: getattr(record, field) + float(value) if isinstance(value, str) else value})
        if where.items() <= vars(record).items()
        else record
        for record in getattr(results, figure)
    )
    return replace(results, **{figure: records})


def parts_of(number, results, redraws=0):
    """Return the parts of a claim on some results; of these it is given only what it says that it rests on."""
    claim = BY_NUMBER[number]
    if isinstance(results, Study):
        return claim.parts(results)
    named = re.findall(r"\d\w?", claim.source.replace("Table 1", "3"))
    unnamed = {name: () for name in KINDS if name.removeprefix("figure") not in named}
    return claim.parts(Study(replace(results, **unnamed), redraws=redraws))


def holds(parts):
    """Return whether every value is on the right side of its threshold."""
    return all(
        part.relation.sign * (check.value.observed - part.threshold)
        > (1e-9 if part.relation is Relation.ABOVE else -1e-9)
        for part in parts
        for check in part.checks
    )
