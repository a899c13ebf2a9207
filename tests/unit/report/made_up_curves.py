"""Made-up points of Figures 4, 5, 6 and 8, for the tests of the figures."""

from xling.report.means import ContextualMean, SentenceMean, WordMean
from xling.report.records import BERT, BI_MLM, BI_MLM_ALIGN, FASTTEXT, MLM_ALIGN, UNTRAINED

LANGUAGES, LAYERS = ("fr", "de", "ru", "zh"), range(9)
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
