"""Made-up results of Figures 4 to 8 that show everything the paper says, for the tests of claims 6 and 7."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from xling.report.claims.all import CLAIMS
from xling.report.claims.verdict import Outcome, Verdict, judge
from xling.report.means import CkaMean, ContextualMean, Means, SentenceMean, WordMean
from xling.report.records import BERT, BI_MLM, BI_MLM_ALIGN, FASTTEXT, MLM_ALIGN, UNTRAINED

BY_NUMBER = {claim.number: claim for claim in CLAIMS}
LANGUAGES, LAYERS = ("fr", "de", "ru", "zh"), range(9)
PAIRS = ("en-en'", "en-fr", "en-de", "en-ru", "en-zh")
GAP = {"en-en'": 0.10, "en-fr": 0.11, "en-de": 0.12, "en-ru": 0.08, "en-zh": 0.01}
MIDDLE = (10, 20, 30, 40, 45, 40, 30, 20, 10)  # best at layer 4
SERIES = {
    MLM_ALIGN: {"ner": 0, "parsing": 10},
    BI_MLM: {"ner": 30, "parsing": 20},
    BI_MLM_ALIGN: {"ner": 30, "parsing": 22},
}


def words_4a() -> list[WordMean]:
    levels = {BERT: 40.0, FASTTEXT: 40.0, UNTRAINED: 2.0}
    return [WordMean(language, vectors, p1, 0.1) for language in LANGUAGES for vectors, p1 in levels.items()]


def words_4b() -> list[WordMean]:
    scores = []
    for language in LANGUAGES:
        scores.append(WordMean(language, FASTTEXT, 50.0, 0.1))
        scores += [WordMean(language, BERT, 20.0 + 2 * layer, 0.1, layer) for layer in LAYERS]
        scores += [WordMean(language, UNTRAINED, 3.0, 0.1, layer) for layer in LAYERS]
    return scores


def contextual(*series: str) -> list[ContextualMean]:
    return [
        ContextualMean(task, language, name, layer, MIDDLE[layer] + SERIES[name][task], 5.0)
        for name in series
        for task in ("ner", "parsing")
        for language in ("fr", "ru", "zh")
        for layer in LAYERS
    ]


def sentences() -> list[SentenceMean]:
    levels = {"monolingual": 80.0, UNTRAINED: 30.0}
    return [
        SentenceMean(language, model, direction, layer, top - 5 * layer * (model != UNTRAINED), 0.1)
        for language in LANGUAGES
        for model, top in levels.items()
        for direction in ("en-x", "x-en")
        for layer in LAYERS
    ]


def cka() -> list[CkaMean]:
    start = {"bilingual": 0.7, "monolingual": 0.7, "random": 0.5}
    return [
        CkaMean(f"L{layer}", pair, model, start[model] + GAP[pair] * (model == "bilingual") - 0.02 * layer)
        for pair in PAIRS
        for model in start
        for layer in LAYERS
    ]


def study() -> Means:
    """Return made-up results that show everything the paper says."""
    return Means(
        figure4a=tuple(words_4a()),
        figure4b=tuple(words_4b()),
        figure5=tuple(contextual(MLM_ALIGN, BI_MLM)),
        figure6=tuple(sentences()),
        figure7=tuple(cka()),
        figure8=tuple(contextual(BI_MLM, BI_MLM_ALIGN)),
    )


def changed(figure: str, value: str, new: Callable[[Any], float], **where: Any) -> Means:
    """Return the made-up results with a value changed in the records of a figure that match."""
    results = study()
    records = tuple(
        replace(record, **{value: new(record)}) if all(getattr(record, k) == v for k, v in where.items()) else record
        for record in getattr(results, figure)
    )
    return replace(results, **{figure: records})


def outcome(number: str, results: Means) -> Outcome:
    return judge(BY_NUMBER[number], results)


def verdict_of(supported: bool) -> Verdict:
    return Verdict.SUPPORTED if supported else Verdict.NOT_SUPPORTED


def only(*languages: str) -> Means:
    """Return the made-up results of some languages only."""
    results = study()
    kept = {
        name: tuple(r for r in getattr(results, name) if getattr(r, "language", None) in languages)
        for name in ("figure4a", "figure4b", "figure5", "figure6", "figure8")
    }
    pairs = [f"en-{language}" for language in languages]
    return replace(results, **kept, figure7=tuple(r for r in results.figure7 if r.pair in pairs))
