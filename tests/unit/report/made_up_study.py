"""Made-up results that show everything the paper says, without noise, for the tests of the claims."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from xling.report.claims.all import CLAIMS
from xling.report.claims.parts import Outcome
from xling.report.measured import Study
from xling.report.names import SETTINGS
from xling.report.records import (
    BERT,
    BI_MLM,
    BI_MLM_ALIGN,
    FASTTEXT,
    MLM_ALIGN,
    UNTRAINED,
    Cell,
    CkaScore,
    ContextualScore,
    Results,
    SentenceScore,
    WordScore,
)
from xling.report.rule import Relation

Key = tuple[str, str, str]
BY_NUMBER = {claim.number: claim for claim in CLAIMS}
TASKS, CELL_LANGUAGES = ("xnli", "ner", "parsing"), ("fr", "ru", "zh")
D, CC, NA, DA, EA, SE, L3, L6, SE3, SE6 = SETTINGS
DEFAULT, FLOOR = {"fr": 90.0, "ru": 70.0, "zh": 50.0}, 10.0  # so Default is 80, 60 and 40 above the floor
LOSS = {D: 0, CC: 2, NA: 4, DA: 3, SE: 6, L3: 5, L6: 25, SE3: 10}
LANGUAGES, LAYERS = ("fr", "de", "ru", "zh"), range(9)
PAIRS = ("en-en'", "en-fr", "en-de", "en-ru", "en-zh")
GAP = {"en-en'": 0.10, "en-fr": 0.11, "en-de": 0.12, "en-ru": 0.08, "en-zh": 0.01}
MIDDLE = (10, 20, 30, 40, 45, 40, 30, 20, 10)  # best at layer 4
SERIES = {
    MLM_ALIGN: {"ner": 0, "parsing": 10},
    BI_MLM: {"ner": 30, "parsing": 20},
    BI_MLM_ALIGN: {"ner": 29, "parsing": 22},
}


def base_score(setting: str, task: str, language: str) -> float:
    """Return a score of a study that shows everything the paper shows."""
    if setting == SE6:
        return {"fr": 45.0, "ru": 13.0, "zh": 12.0}[language]
    if setting == EA:
        return DEFAULT[language] + {"fr": 1, "ru": 2, "zh": 3}[language]
    return DEFAULT[language] - (5 if (setting, task) == (CC, "ner") else LOSS[setting])


def table(changes: Mapping[Key, float] | None = None, drop: tuple[str, ...] = (), paper_scale: bool = False) -> Results:
    """Return Table 1 of that study with some scores changed and some settings, tasks or languages not run."""
    keys = [(s, t, x) for s in SETTINGS for t in TASKS for x in CELL_LANGUAGES if not {s, t, x} & set(drop)]
    scores = {key: base_score(*key) for key in keys} | dict(changes or {})
    return Results(figure3=tuple(cell(*key, score) for key, score in scores.items()), paper_scale=paper_scale)


def cell(setting: str, task: str, language: str, score: float, **more: Any) -> Cell:
    return Cell(setting=setting, task=task, language=language, score=score, **{"chance": FLOOR} | more)


def whole(setting: str, task: str, fr: float, ru: float, zh: float) -> dict[Key, float]:
    return {(setting, task, "fr"): fr, (setting, task, "ru"): ru, (setting, task, "zh"): zh}


def curves() -> Results:
    """Return Figures 4 to 8 of that study."""
    static = {BERT: 41.0, FASTTEXT: 40.0, UNTRAINED: 2.0}
    words = [WordScore(language=x, vectors=v, p1=p1, chance=0.1) for x in LANGUAGES for v, p1 in static.items()]
    layered = [WordScore(language=x, vectors=FASTTEXT, p1=50.0, chance=0.1) for x in LANGUAGES]
    levels: dict[str, Callable[[int], float]] = {BERT: lambda layer: 20.0 + 2 * layer, UNTRAINED: lambda _: 3.0}
    layered += [
        WordScore(language=x, vectors=v, p1=level(n), chance=0.1, layer=n)
        for x in LANGUAGES
        for v, level in levels.items()
        for n in LAYERS
    ]
    sentences = [
        SentenceScore(language=x, model=m, direction=d, layer=n, p1=top - 5 * n * (m != UNTRAINED), chance=0.1)
        for x in LANGUAGES
        for m, top in {"monolingual": 80.0, UNTRAINED: 30.0}.items()
        for d in ("en-x", "x-en")
        for n in LAYERS
    ]
    start = {"bilingual": 0.7, "monolingual": 0.7, "random": 0.5}
    cka = [
        CkaScore(layer=f"L{n}", pair=p, model=m, cka=start[m] + GAP[p] * (m == "bilingual") - 0.02 * n)
        for p in PAIRS
        for m in start
        for n in LAYERS
    ]
    return Results(
        figure4a=tuple(words),
        figure4b=tuple(layered),
        figure5=contextual(MLM_ALIGN, BI_MLM),
        figure6=tuple(sentences),
        figure7=tuple(cka),
        figure8=contextual(BI_MLM, BI_MLM_ALIGN),
    )


def contextual(*series: str) -> tuple[ContextualScore, ...]:
    return tuple(
        ContextualScore(task=task, language=x, series=name, encoder=encoder, layer=n, score=score)
        for name in series
        for task in ("ner", "parsing")
        for x in CELL_LANGUAGES
        for n in LAYERS
        for encoder, score in (("trained", MIDDLE[n] + SERIES[name][task]), (UNTRAINED, 5.0))
    )


def changed(figure: str, value: str, new: Callable[[Any], float], **where: Any) -> Results:
    """Return the curves with a value changed in the records of a figure that match."""
    results = curves()
    if figure in ("figure5", "figure8"):
        where.setdefault("encoder", "trained")
    records = tuple(
        replace(record, **{value: new(record)}) if all(getattr(record, k) == v for k, v in where.items()) else record
        for record in getattr(results, figure)
    )
    return replace(results, **{figure: records})


def only(*languages: str) -> Results:
    """Return the curves of some languages only."""
    results = curves()
    kept = {
        name: tuple(r for r in getattr(results, name) if r.language in languages)
        for name in ("figure4a", "figure4b", "figure5", "figure6", "figure8")
    }
    pairs = [f"en-{language}" for language in languages]
    return replace(results, **kept, figure7=tuple(r for r in results.figure7 if r.pair in pairs))


def outcome(number: str, results: Results | Study, redraws: int = 0) -> Outcome:
    claim = BY_NUMBER[number]
    study = results if isinstance(results, Study) else Study(results, redraws=redraws)
    return Outcome(claim, tuple(claim.parts(study)))


def holds(found: Outcome) -> bool:
    """Return whether every value is on the right side of its border."""
    return all(
        part.relation.sign * (check.value.observed - part.border) > (1e-9 if part.relation is Relation.ABOVE else -1e-9)
        for part in found.parts
        for check in part.checks
    )
