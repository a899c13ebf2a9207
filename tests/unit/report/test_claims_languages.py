"""In which languages a claim holds: of its checks that are about one language."""

from dataclasses import replace

from xling.report import published
from xling.report.claims.languages import Held, by_language, languages_table
from xling.report.claims.render import as_json, judge_all
from xling.report.means import Means, means
from xling.report.names import NO_ANCHORS

PAPER = means(published.results())


def test_the_published_numbers_hold_in_every_language() -> None:
    found = {outcome.claim.number: by_language(outcome) for outcome in judge_all(PAPER)}
    assert found["1a"] == {"fr": Held(2, 2), "ru": Held(2, 2), "zh": Held(2, 2)}
    assert found["4a"] == dict.fromkeys(("fr", "ru", "zh"), Held(12, 12))
    assert found["4d"] == {"fr": Held(3, 3), "ru": Held(6, 6), "zh": Held(6, 6)}
    assert list(found["7a"]) == ["fr", "de", "ru", "zh", "en'"]
    for number in ("1b", "2b", "3", "4b", "4c", "5"):
        assert found[number] == {}, "a mean over languages, or a comparison of them"
    assert all(held.held == held.checks for own in found.values() for held in own.values())


def test_a_claim_that_fails_in_one_language_is_seen_to_hold_in_the_others() -> None:
    cells = [
        replace(cell, score=cell.floor) if (cell.setting, cell.language) == (NO_ANCHORS, "zh") else cell
        for cell in PAPER.figure3
    ]
    outcomes = judge_all(replace(PAPER, figure3=tuple(cells)))
    table = languages_table(outcomes)
    assert table[:3] == [
        "| | fr | de | ru | zh | en' |",
        "|---|---|---|---|---|---|",
        "| 1a | 2 of 2 | - | 2 of 2 | 0 of 2 | - |",
    ]
    claims = as_json(outcomes, paper_scale=True, config_hash="")["claims"]
    assert claims[0]["by_language"]["zh"] == {"held": 0, "checks": 2}
    assert claims[1]["by_language"] == {}
    assert languages_table(judge_all(Means())) == []
