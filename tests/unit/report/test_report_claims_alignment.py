"""Claims 6 and 7 on made-up curves: both sides of every border, too little signal, nothing run."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from xling.report import published
from xling.report.claims.all import CLAIMS
from xling.report.claims.similarity import pearson
from xling.report.claims.verdict import Outcome, Verdict, judge
from xling.report.records import (
    BERT,
    BI_MLM,
    BI_MLM_ALIGN,
    FASTTEXT,
    MLM_ALIGN,
    UNTRAINED,
    CkaScore,
    ContextualScore,
    Results,
    SentenceScore,
    WordScore,
)

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


def words_4a() -> list[WordScore]:
    levels = {BERT: 40.0, FASTTEXT: 40.0, UNTRAINED: 2.0}
    return [WordScore(language, vectors, p1, 0.1) for language in LANGUAGES for vectors, p1 in levels.items()]


def words_4b() -> list[WordScore]:
    scores = []
    for language in LANGUAGES:
        scores.append(WordScore(language, FASTTEXT, 50.0, 0.1))
        scores += [WordScore(language, BERT, 20.0 + 2 * layer, 0.1, layer) for layer in LAYERS]
        scores += [WordScore(language, UNTRAINED, 3.0, 0.1, layer) for layer in LAYERS]
    return scores


def contextual(*series: str) -> list[ContextualScore]:
    return [
        ContextualScore(task, language, name, layer, MIDDLE[layer] + SERIES[name][task], 5.0)
        for name in series
        for task in ("ner", "parsing")
        for language in ("fr", "ru", "zh")
        for layer in LAYERS
    ]


def sentences() -> list[SentenceScore]:
    levels = {"monolingual": 80.0, UNTRAINED: 30.0}
    return [
        SentenceScore(language, model, direction, layer, top - 5 * layer * (model != UNTRAINED), 0.1)
        for language in LANGUAGES
        for model, top in levels.items()
        for direction in ("en-x", "x-en")
        for layer in LAYERS
    ]


def cka() -> list[CkaScore]:
    start = {"bilingual": 0.7, "monolingual": 0.7, "random": 0.5}
    return [
        CkaScore(f"L{layer}", pair, model, start[model] + GAP[pair] * (model == "bilingual") - 0.02 * layer)
        for pair in PAIRS
        for model in start
        for layer in LAYERS
    ]


def study() -> Results:
    """Return made-up results that show everything the paper says."""
    return Results(
        figure4a=tuple(words_4a()),
        figure4b=tuple(words_4b()),
        figure5=tuple(contextual(MLM_ALIGN, BI_MLM)),
        figure6=tuple(sentences()),
        figure7=tuple(cka()),
        figure8=tuple(contextual(BI_MLM, BI_MLM_ALIGN)),
    )


def changed(figure: str, value: str, new: Callable[[Any], float], **where: Any) -> Results:
    """Return the made-up results with a value changed in the records of a figure that match."""
    results = study()
    records = tuple(
        replace(record, **{value: new(record)}) if all(getattr(record, k) == v for k, v in where.items()) else record
        for record in getattr(results, figure)
    )
    return replace(results, **{figure: records})


def outcome(number: str, results: Results) -> Outcome:
    return judge(BY_NUMBER[number], results)


def verdict_of(supported: bool) -> Verdict:
    return Verdict.SUPPORTED if supported else Verdict.NOT_SUPPORTED


@pytest.mark.parametrize("number", ["6a", "6b", "6c", "7a", "7b", "7c"])
def test_the_made_up_study_shows_everything(number: str) -> None:
    assert outcome(number, study()).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("number", ["6a", "6b", "6c", "7a", "7b", "7c"])
def test_nothing_run(number: str) -> None:
    assert outcome(number, Results()).verdict is Verdict.NOT_RUN


@pytest.mark.parametrize(
    ("number", "missing"),
    [
        ("6a", "figure4a"),
        ("6a", "figure4b"),
        ("6b", "figure5"),
        ("6b", "figure8"),
        ("7c", "figure6"),
        ("7c", "figure7"),
    ],
)
def test_half_of_what_is_needed_is_not_enough(number: str, missing: str) -> None:
    assert outcome(number, replace(study(), **{missing: ()})).verdict is Verdict.NOT_RUN


@pytest.mark.parametrize(("p1", "supported"), [(40.0, True), (39.9, False)])
def test_6a_embeddings_are_level_with_fasttext(p1: float, supported: bool) -> None:
    results = changed("figure4a", "p1", lambda _: p1, language="ru", vectors=BERT)
    assert outcome("6a", results).verdict is verdict_of(supported)


@pytest.mark.parametrize(("p1", "supported"), [(36.1, True), (36.0, False)])
def test_6a_contextual_averages_are_below_fasttext(p1: float, supported: bool) -> None:
    results = changed("figure4b", "p1", lambda _: p1, language="fr", vectors=FASTTEXT)
    assert outcome("6a", results).verdict is verdict_of(supported)


@pytest.mark.parametrize(("slope", "supported"), [(0.1, True), (0.0, False), (-1.0, False)])
def test_6a_upper_layers_are_above_lower_ones(slope: float, supported: bool) -> None:
    results = changed("figure4b", "p1", lambda r: 20 + slope * r.layer, language="zh", vectors=BERT)
    assert outcome("6a", results).verdict is verdict_of(supported)


@pytest.mark.parametrize(("untrained", "supported"), [(35.0, True), (35.01, False)])
def test_6a_embeddings_are_five_points_above_the_untrained_encoder(untrained: float, supported: bool) -> None:
    results = changed("figure4a", "p1", lambda _: untrained, language="de", vectors=UNTRAINED)
    assert outcome("6a", results).verdict is verdict_of(supported)


@pytest.mark.parametrize(("chance", "supported"), [(31.0, True), (31.01, False)])
def test_6a_contextual_averages_are_five_points_above_chance(chance: float, supported: bool) -> None:
    results = changed("figure4b", "chance", lambda _: chance, language="de")
    assert outcome("6a", results).verdict is verdict_of(supported)


@pytest.mark.parametrize(
    ("task", "language", "raised", "supported"),
    [
        ("parsing", "ru", 9.9, True),  # parsing: MLM align is 10 below biMLM
        ("parsing", "ru", 10.0, False),
        ("ner", "fr", 29.9, True),
        ("ner", "fr", 30.0, False),
        ("parsing", "fr", 20.0, True),  # the paper's exception
    ],
)
def test_6b_aligned_is_below_bilingual_but_for_parsing_fr(
    task: str, language: str, raised: float, supported: bool
) -> None:
    results = changed("figure5", "score", lambda r: r.score + raised, task=task, language=language, series=MLM_ALIGN)
    assert outcome("6b", results).verdict is verdict_of(supported)


@pytest.mark.parametrize(
    ("layer", "score", "supported"),
    [(8, 45.0, True), (8, 45.1, False), (1, 45.1, False), (2, 45.1, True), (6, 45.1, True)],
)
def test_6b_the_best_layer_is_a_middle_one(layer: int, score: float, supported: bool) -> None:
    results = changed("figure5", "score", lambda _: score, task="ner", language="zh", series=MLM_ALIGN, layer=layer)
    assert outcome("6b", results).verdict is verdict_of(supported)


@pytest.mark.parametrize(("raised", "supported"), [(19.9, True), (20.0, False)])
def test_6b_the_gap_is_larger_in_ner(raised: float, supported: bool) -> None:
    results = changed("figure5", "score", lambda r: r.score + raised, task="ner", series=MLM_ALIGN)
    assert outcome("6b", results).verdict is verdict_of(supported)


@pytest.mark.parametrize(
    ("task", "change", "supported"),
    [("parsing", -1.9, True), ("parsing", -2.0, False), ("ner", 0.0, True), ("ner", 0.1, False)],
)
def test_6b_alignment_helps_the_bilingual_model_in_parsing_only(task: str, change: float, supported: bool) -> None:
    results = changed("figure8", "score", lambda r: r.score + change, task=task, series=BI_MLM_ALIGN)
    assert outcome("6b", results).verdict is verdict_of(supported)


@pytest.mark.parametrize(("lead", "expected"), [(5.0, Verdict.NOT_SUPPORTED), (4.99, Verdict.SUPPORTED)])
def test_6b_a_cell_without_signal_is_left_out(lead: float, expected: Verdict) -> None:
    results = changed("figure5", "score", lambda _: 99.0, task="ner", language="zh", series=MLM_ALIGN)
    top = max(MIDDLE) + SERIES[BI_MLM]["ner"]
    weak = tuple(replace(r, floor=top - lead) if (r.task, r.language) == ("ner", "zh") else r for r in results.figure5)
    assert outcome("6b", replace(results, figure5=weak)).verdict is expected


def test_6b_the_floor_is_that_of_the_best_layer() -> None:
    """A low floor at another layer is no signal, in whatever order the records come."""
    top = max(MIDDLE) + SERIES[BI_MLM]["ner"]
    weak = tuple(
        replace(r, floor=r.score - 4.0 if r.score == top else 0.0)
        if (r.task, r.language, r.series) == ("ner", "zh", BI_MLM)
        else r
        for r in study().figure5
    )
    for records in (weak, weak[::-1]):
        assert "NER zh" in outcome("6b", replace(study(), figure5=records)).parts[0].left_out


def test_6b_nothing_can_be_said_where_no_cell_has_signal() -> None:
    weak = {
        figure: tuple(replace(r, floor=90.0) for r in getattr(study(), figure)) for figure in ("figure5", "figure8")
    }
    found = outcome("6b", replace(study(), **weak))
    assert found.verdict is Verdict.NO_SIGNAL
    assert "NER fr" in found.parts[0].left_out


@pytest.mark.parametrize(("untrained", "supported"), [(75.0, True), (75.01, False)])
def test_6c_sentences_are_five_points_above_the_untrained_encoder(untrained: float, supported: bool) -> None:
    results = changed("figure6", "p1", lambda _: untrained, language="ru", model=UNTRAINED, layer=8)
    assert outcome("6c", results).verdict is verdict_of(supported)


@pytest.mark.parametrize(
    ("layer", "p1", "supported"), [(8, 80.0, True), (8, 80.1, False), (4, 80.1, False), (3, 80.1, True)]
)
def test_6c_the_best_layer_is_a_lower_one(layer: int, p1: float, supported: bool) -> None:
    results = changed("figure6", "p1", lambda _: p1, language="fr", model="monolingual", layer=layer)
    assert outcome("6c", results).verdict is verdict_of(supported)


def test_6c_the_directions_are_averaged() -> None:
    results = changed("figure6", "p1", lambda _: 99.0, language="fr", model="monolingual", layer=8, direction="en-x")
    effect = outcome("6c", results).parts[1].checks[0].effect.value
    assert effect == pytest.approx(80.0 - (99.0 + 40.0) / 2)


@pytest.mark.parametrize(
    ("pair", "model", "change", "supported"),
    [
        ("en-zh", "monolingual", 0.009, True),
        ("en-zh", "monolingual", 0.01, False),
        ("en-en'", "random", 0.199, True),
        ("en-en'", "random", 0.2, False),
    ],
)
def test_7a_bilingual_over_monolingual_over_random(pair: str, model: str, change: float, supported: bool) -> None:
    results = changed("figure7", "cka", lambda r: r.cka + change, pair=pair, model=model)
    assert outcome("7a", results).verdict is verdict_of(supported)


def test_7a_a_printed_average_counts_before_a_computed_one() -> None:
    printed = CkaScore("AVER", "en-zh", "bilingual", 0.1)
    assert outcome("7a", replace(study(), figure7=(*cka(), printed))).verdict is Verdict.NOT_SUPPORTED


def test_7a_the_interval_of_an_average_reaches_the_effect() -> None:
    printed = (
        CkaScore("AVER", "en-zh", "bilingual", 0.6, 0.57, 0.63),
        CkaScore("AVER", "en-zh", "monolingual", 0.5, 0.46, 0.54),
    )
    checks = outcome("7a", replace(study(), figure7=(*cka(), *printed))).parts[0].checks
    effect = next(check.effect for check in checks if check.where == "en-zh")
    assert (effect.low, effect.high) == pytest.approx((0.05, 0.15))


@pytest.mark.parametrize(
    ("model", "layer", "value", "supported"),
    [
        ("bilingual", "L5", 0.81, True),
        ("bilingual", "L5", 0.811, False),
        ("monolingual", "L2", 0.701, False),
        ("monolingual", "L1", 0.9, True),
        ("random", "L8", 0.9, True),
    ],
)
def test_7b_the_best_layer_is_one_of_the_first_two(model: str, layer: str, value: float, supported: bool) -> None:
    results = changed("figure7", "cka", lambda _: value, pair="en-fr", model=model, layer=layer)
    assert outcome("7b", results).parts[0].verdict is verdict_of(supported)


@pytest.mark.parametrize(
    ("pair", "change", "supported"),
    [
        ("en-fr", -0.029, True),
        ("en-fr", -0.03, False),
        ("en-de", -0.04, False),
        ("en-ru", 0.029, True),
        ("en-ru", 0.03, False),
        ("en-zh", 0.07, False),
        ("en-fr", 0.1, True),  # fr and de are not ranked
    ],
)
def test_7b_what_sharing_adds_shrinks_with_distance(pair: str, change: float, supported: bool) -> None:
    results = changed("figure7", "cka", lambda r: r.cka + change, pair=pair, model="bilingual")
    assert outcome("7b", results).verdict is verdict_of(supported)


def test_7c_needs_more_than_nine_tenths_for_each_language() -> None:
    found = outcome("7c", study())
    assert [check.effect.value for check in found.parts[0].checks] == pytest.approx([1.0] * 4)
    bent = changed("figure6", "p1", lambda r: 80.0 if r.layer < 6 else 20.0, language="zh", model="monolingual")
    assert [check.passed for check in outcome("7c", bent).parts[0].checks] == [True, True, True, False]
    assert outcome("7c", bent).verdict is Verdict.NOT_SUPPORTED


def test_7c_a_curve_that_does_not_vary_has_too_little_signal() -> None:
    flat = changed("figure6", "p1", lambda _: 50.0, model="monolingual")
    assert outcome("7c", flat).verdict is Verdict.NO_SIGNAL


def test_7c_two_layers_are_always_on_a_line() -> None:
    two = tuple(score for score in sentences() if score.layer < 2)
    assert outcome("7c", replace(study(), figure6=two)).verdict is Verdict.NOT_RUN


@pytest.mark.parametrize(("last", "supported"), [(2.18, True), (2.17, False)])
def test_7c_the_border_is_at_nine_tenths(last: float, supported: bool) -> None:
    # r of (0, 0), (1, 2), (2, y) is y over sqrt(4 (y^2 - 2y + 4) / 3), which is .9 at y = 2.1752
    points = [(0.0, 0.0), (1.0, 2.0), (2.0, last)]
    assert pearson(points) == pytest.approx(np.corrcoef(np.array(points).T)[0, 1])
    layers = tuple(
        CkaScore(f"L{n}", f"en-{x}", "monolingual", c / 10) for x in LANGUAGES for n, (c, _) in enumerate(points)
    )
    found = tuple(
        SentenceScore(x, "monolingual", "en-x", n, p, 0.1) for x in LANGUAGES for n, (_, p) in enumerate(points)
    )
    assert outcome("7c", Results(figure6=found, figure7=layers)).verdict is verdict_of(supported)


@pytest.mark.parametrize("number", ["7a", "7b"])
def test_the_published_numbers_support_the_claims_on_figure_7(number: str) -> None:
    found = outcome(number, published.results())
    assert found.verdict is Verdict.SUPPORTED
    assert not any(part.left_out or part.not_run for part in found.parts)


def test_the_published_effects_of_figure_7() -> None:
    gaps = {check.where: round(check.effect.value, 2) for check in outcome("7a", published.results()).parts[0].checks}
    assert gaps == {"en-en'": 0.09, "en-fr": 0.11, "en-de": 0.11, "en-ru": 0.08, "en-zh": 0.01}
    best_layers = outcome("7b", published.results()).parts[0].checks
    assert (len(best_layers), all(check.passed for check in best_layers)) == (10, True)


@pytest.mark.parametrize("number", ["6a", "6b", "6c", "7c"])
def test_what_the_paper_printed_no_numbers_for_is_not_run(number: str) -> None:
    assert outcome(number, published.results()).verdict is Verdict.NOT_RUN


COVERED = {"6a": (4, "pairs"), "6b": (6, "cells"), "6c": (4, "pairs"), "7a": (5, "pairs"), "7b": (10, "curves")}
COVERED |= {"7c": (4, "pairs")}


@pytest.mark.parametrize(("number", "wanted"), COVERED.items())
def test_a_whole_study_covers_everything(number: str, wanted: tuple[int, str]) -> None:
    found = outcome(number, study()).coverage
    assert (found.judged, found.run, (found.wanted, found.over)) == (wanted[0], wanted[0], wanted)


def only(*languages: str) -> Results:
    """Return the made-up results of some languages only."""
    results = study()
    kept = {
        name: tuple(r for r in getattr(results, name) if getattr(r, "language", None) in languages)
        for name in ("figure4a", "figure4b", "figure5", "figure6", "figure8")
    }
    pairs = [f"en-{language}" for language in languages]
    return replace(results, **kept, figure7=tuple(r for r in results.figure7 if r.pair in pairs))


@pytest.mark.parametrize(
    ("number", "counts"),
    [("6a", (2, 4)), ("6b", (3, 5)), ("6c", (2, 4)), ("7a", (2, 5)), ("7b", (1, 3)), ("7c", (2, 4))],
)
def test_two_languages_are_counted_as_two(number: str, counts: tuple[int, int]) -> None:
    found = outcome(number, only("fr", "ru"))
    assert found.verdict is Verdict.SUPPORTED
    assert (found.coverage.judged, found.coverage.wanted) == counts


@pytest.mark.parametrize(
    ("languages", "expected"), [(("fr", "ru", "zh"), Verdict.NO_SIGNAL), (("fr",), Verdict.NOT_RUN)]
)
def test_6b_signal_is_lacking_only_where_all_was_run(languages: tuple[str, ...], expected: Verdict) -> None:
    results = only(*languages)
    weak = {name: tuple(replace(r, floor=90.0) for r in getattr(results, name)) for name in ("figure5", "figure8")}
    assert outcome("6b", replace(results, **weak)).verdict is expected


def test_7b_the_interval_of_a_layer_reaches_the_effect() -> None:
    results = study()
    scores = tuple(replace(r, low=r.cka - 0.03, high=r.cka + 0.04) for r in results.figure7)
    effect = outcome("7b", replace(results, figure7=scores)).parts[0].checks[0].effect
    assert (effect.value, effect.low, effect.high) == pytest.approx((0.04, -0.01, 0.09))
