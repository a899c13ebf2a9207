"""Claim 6 on made-up curves, and what claims 6 and 7 rest on: both sides of every border, too little signal, nothing run."""

from dataclasses import replace

import pytest
from made_up_curves import MIDDLE, SERIES, changed, only, outcome, study, verdict_of

from xling.report import published
from xling.report.claims.verdict import Verdict
from xling.report.records import BERT, BI_MLM, BI_MLM_ALIGN, FASTTEXT, MLM_ALIGN, UNTRAINED, Results


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


def test_6c_two_directions_over_the_same_sentences_are_no_surer_than_one() -> None:
    results = changed("figure6", "low", lambda score: score.p1 - 2.0)
    results = replace(results, figure6=[replace(score, high=score.p1 + 2.0) for score in results.figure6])
    effect = outcome("6c", results).parts[1].checks[0].effect
    assert (effect.below, effect.above) == pytest.approx((8.0**0.5, 8.0**0.5))


@pytest.mark.parametrize("number", ["6a", "6b", "6c", "7c"])
def test_what_the_paper_printed_no_numbers_for_is_not_run(number: str) -> None:
    assert outcome(number, published.results()).verdict is Verdict.NOT_RUN


COVERED = {"6a": (4, "pairs"), "6b": (6, "cells"), "6c": (4, "pairs"), "7a": (5, "pairs"), "7b": (10, "curves")}
COVERED |= {"7c": (4, "pairs")}


@pytest.mark.parametrize(("number", "wanted"), COVERED.items())
def test_a_whole_study_covers_everything(number: str, wanted: tuple[int, str]) -> None:
    found = outcome(number, study()).coverage
    assert (found.judged, found.run, (found.wanted, found.over)) == (wanted[0], wanted[0], wanted)


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
