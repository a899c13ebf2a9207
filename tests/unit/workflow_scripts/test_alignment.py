"""What the analyses of section 5 are made from: which encoders, which texts, which are compared."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from embedded import DEMO as STUDY
from embedded import PAPER, ROOT
from embedded import made as made_study

from workflow_scripts.alignment import Alignment
from workflow_scripts.config import read_config
from workflow_scripts.study import Study

DEMO = STUDY.alignment
PAIRS = ["en-en'", "en-fr", "en-de", "en-ru", "en-zh"]


def made(**changes: Any) -> Alignment:
    return made_study(**changes).alignment


@pytest.mark.parametrize("one", [DEMO, PAPER.alignment], ids=["embedded", "paper"])
def test_figure_7_compares_five_pairs_three_ways(one: Alignment) -> None:
    plan = one.plan("cka")
    columns = [(row["pair"], row["model"]) for row in plan["comparisons"]]
    assert columns == [(pair, model) for pair in PAIRS for model in ("bilingual", "monolingual", "random")]
    sides = {(row["pair"], row["model"]): row["seeds"] for row in plan["comparisons"]}

    def told(pair: str, model: str) -> list[tuple[str, str, str]]:
        (seed,) = sides[pair, model]
        return [(Path(side["folder"]).name, side["kind"], side["language"]) for side in seed]

    assert told("en-en'", "bilingual") == [
        ("en-en2.sep-emb.s1", "trained", "en"),
        ("en-en2.sep-emb.s1", "trained", "en2"),
    ]
    assert told("en-de", "bilingual") == [("en-de.default.s1", "trained", "en"), ("en-de.default.s1", "trained", "de")]
    assert told("en-zh", "monolingual") == [("en.mono.s1", "trained", "en"), ("zh.mono.s1", "trained", "zh")]
    assert told("en-zh", "random") == [("en.mono.s1", "trained", "en"), ("zh.mono.s1", "untrained", "zh")]


def test_only_what_the_figures_need_is_represented() -> None:
    alone = [f"{code}.mono.s1" for code in ("en", "en2", "fr", "de", "ru", "zh")]
    both = ["en-en2.sep-emb.s1", *(f"en-{code}.default.s1" for code in ("fr", "de", "ru", "zh"))]
    assert DEMO.encoders == alone + both
    assert set(DEMO.sentences("en.mono.s1")) == {"parallel:en", *(f"tatoeba-{c}:en" for c in ("fr", "de", "ru", "zh"))}
    assert set(DEMO.sentences("fr.mono.s1")) == {"parallel:fr", "tatoeba-fr:fr"}
    assert set(DEMO.sentences("en2.mono.s1")) == {"parallel:en2"}
    assert set(DEMO.sentences("en-fr.default.s1")) == {"parallel:en", "parallel:fr"}
    assert DEMO.sentences("en.mono.s1")["tatoeba-fr:en"] == DEMO.tatoeba("fr")[0]
    assert DEMO.sentences("fr.mono.s1")["tatoeba-fr:fr"] == DEMO.tatoeba("fr")[1]
    assert [name for name in DEMO.encoders if DEMO.text(name)] == [name for name in alone if "en2" not in name]


def test_a_language_whose_source_is_taken_away_is_not_in_the_figure() -> None:
    taken = made(languages={"fr": {"muse": None}, "de": {"tatoeba": None}})
    assert taken.languages("words") == ["de", "ru", "zh"]
    assert taken.languages("sentences") == ["fr", "ru", "zh"]
    assert taken.languages("cka") == DEMO.languages("cka")


def test_an_analysis_waits_for_the_encoders_that_it_compares_and_no_others() -> None:
    alone = {f"{code}.mono.s1" for code in ("en", "fr", "de", "ru", "zh")}
    assert set(DEMO.compared("words")) == set(DEMO.compared("sentences")) == alone
    assert set(DEMO.compared("cka")) == set(DEMO.encoders)
    more = made(study={"more_seeds": [{"models": ["en.mono"], "seeds": [2]}]})
    assert "en.mono.s2" in more.encoders  # no other language has that seed
    assert "en.mono.s2" not in more.compared("cka")
    assert DEMO.represented("words") == [DEMO.states(name) / "states.json" for name in DEMO.compared("words")]


def test_flags_say_all_that_an_encoder_reads() -> None:
    words = shlex.split(DEMO.flags("fr.mono.s1"))
    assert words[words.index("--lines") + 1 :][:3] == ["2500", "--words", "200000"]
    assert words[-1] == "--untrained"
    assert [text.partition("=")[0] for text in words if ":fr=" in text] == ["parallel:fr", "tatoeba-fr:fr"]
    assert "--untrained" not in DEMO.flags("en-fr.default.s1")
    assert "--text" not in DEMO.flags("en-fr.default.s1")


def test_seeds_that_both_sides_have_are_compared() -> None:
    more = made(study={"more_seeds": [{"models": ["en.mono", "fr.mono", "en-fr.default"], "seeds": [1, 2]}]})
    plan = more.plan("sentences")["languages"]
    assert [Path(seed["fr"]).name for seed in plan["fr"]["seeds"]] == ["fr.mono.s1", "fr.mono.s2"]
    assert [Path(seed["en"]).name for seed in plan["fr"]["seeds"]] == ["en.mono.s1", "en.mono.s2"]
    assert len(plan["de"]["seeds"]) == 1
    rows = {(row["pair"], row["model"]): len(row["seeds"]) for row in more.plan("cka")["comparisons"]}
    assert (rows["en-fr", "bilingual"], rows["en-fr", "random"], rows["en-ru", "bilingual"]) == (2, 2, 1)


def test_a_study_without_fasttext_or_a_copys_own_sentences() -> None:
    bare = made(languages={"fr": {"vectors": None}, "en2": {"parallel": None}})
    plan = bare.plan("words")["languages"]
    assert plan["fr"]["vectors"] is None
    assert set(plan["de"]["vectors"]) == {"en", "de"}
    assert bare.sentences("en2.mono.s1")["parallel:en2"] == bare.sentences("en.mono.s1")["parallel:en"]


def test_vectors_of_the_study_s_own_text_are_no_raw_files() -> None:
    mixed = made(languages={"de": {"vectors": "fasttext/wiki.de.vec"}})
    own = {code: str(mixed.trained_vectors(code)) for code in ("en", "fr", "ru", "zh")}
    assert mixed.plan("words")["languages"]["fr"]["vectors"] == {code: own[code] for code in ("en", "fr")}
    assert {str(path) for path in mixed.own_vectors()} == set(own.values())
    assert {Path(path).name for path in mixed.raw_words() if Path(path).suffix != ".txt"} == {"wiki.de.vec"}
    alone = made(languages={"en": {"vectors": None}})
    assert alone.own_vectors() == [], "a baseline needs both languages"


def test_without_a_model_of_the_source_there_is_nothing_to_compare() -> None:
    alone = made(study={"languages": ["fr"], "extra": []})
    assert (alone.analyses, alone.encoders, alone.records) == ([], [], [])


def test_every_preset_has_all_analyses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLING_DATA", "/data")
    for path in (ROOT / "presets").glob("*.yaml"):
        there = Study(read_config(ROOT / "config.yaml", path)).alignment
        assert there.analyses == ["words", "sentences", "cka"]
        assert len(there.records) == 5
