"""What the analyses of section 5 are made from: which encoders, which texts, which are compared."""

from pathlib import Path

import pytest
from embedded import DEMO as STUDY
from embedded import PAPER
from embedded import made as made_study

DEMO = STUDY.alignment
PAIRS = ["en-en'", "en-fr", "en-de", "en-ru", "en-zh"]


def made(**changes):
    return made_study(**changes).alignment


@pytest.mark.parametrize("one", [DEMO, PAPER.alignment], ids=["embedded", "paper"])
def test_figure_7_compares_five_pairs_three_ways(one):
    sides = {
        (row["pair"], row["model"]): [
            (Path(side["folder"]).name, side["kind"], side["language"]) for side in row["sides"]
        ]
        for row in one.plan("cka.s1")["comparisons"]
    }
    assert list(sides) == [(pair, model) for pair in PAIRS for model in ("bilingual", "monolingual", "random")]
    copied, german = "en-en2.sep-emb.s1", "en-de.default.s1"
    assert sides["en-en'", "bilingual"] == [(copied, "trained", "en"), (copied, "trained", "en2")]
    assert sides["en-de", "bilingual"] == [(german, "trained", "en"), (german, "trained", "de")]
    assert sides["en-zh", "monolingual"] == [("en.mono.s1", "trained", "en"), ("zh.mono.s1", "trained", "zh")]
    assert sides["en-zh", "random"] == [("en.mono.s1", "trained", "en"), ("zh.mono.s1", "untrained", "zh")]


def test_only_what_the_figures_need_is_represented():
    alone = [f"{code}.mono.s1" for code in ("en", "en2", "fr", "de", "ru", "zh")]
    both = ["en-en2.sep-emb.s1", *(f"en-{code}.default.s1" for code in ("fr", "de", "ru", "zh"))]
    assert DEMO.encoders == alone + both
    assert {name: set(DEMO.sentences(name)) for name in (*alone[:3], "en-fr.default.s1")} == {
        "en.mono.s1": {"parallel:en", *(f"tatoeba-{c}:en" for c in ("fr", "de", "ru", "zh"))},
        "en2.mono.s1": {"parallel:en2"},
        "fr.mono.s1": {"parallel:fr", "tatoeba-fr:fr"},
        "en-fr.default.s1": {"parallel:en", "parallel:fr"},
    }
    sides = [DEMO.sentences(f"{code}.mono.s1")[f"tatoeba-fr:{code}"] for code in ("en", "fr")]
    assert sides == list(DEMO.tatoeba("fr"))
    assert [name for name in DEMO.encoders if DEMO.text(name)] == [name for name in alone if "en2" not in name]


def test_a_source_that_is_taken_away_is_not_in_the_figures():
    taken = made(languages={"fr": {"muse": None}, "de": {"tatoeba": None, "vectors": None}, "en2": {"parallel": None}})
    assert taken.languages("words") == ["de", "ru", "zh"]
    assert taken.languages("sentences") == ["fr", "ru", "zh"]
    assert taken.languages("cka") == DEMO.languages("cka")
    vectors = {code: plan["vectors"] for code, plan in taken.plan("words.s1")["languages"].items()}
    assert (vectors["de"], set(vectors["ru"])) == (None, {"en", "ru"})
    assert taken.sentences("en2.mono.s1")["parallel:en2"] == taken.sentences("en.mono.s1")["parallel:en"]
    alone = made(study={"languages": ["fr"], "extra": []})
    assert (alone.jobs, alone.encoders, alone.records) == ([], [], [])  # no model of the source to compare with


def test_seeds_that_both_sides_have_are_compared():
    more = made(study={"more_seeds": [{"models": ["en.mono", "fr.mono", "en-fr.default"], "seeds": [1, 2]}]})
    assert more.jobs == [f"{analysis}.s{seed}" for analysis in ("words", "sentences", "cka") for seed in (1, 2)]
    one, two = (more.plan(f"sentences.s{seed}")["languages"] for seed in (1, 2))
    assert {code: Path(folder).name for code, folder in two["fr"]["states"].items()} == {
        code: f"{code}.mono.s2" for code in ("en", "fr")
    }
    assert ([*one], [*two]) == (["fr", "de", "ru", "zh"], ["fr"])
    assert more.own_vectors("words.s2") == [str(more.trained_vectors(code)) for code in ("en", "fr")]
    assert more.with_own_vectors(["words.s2"]) == ["fr"]
    assert set(more.with_own_vectors(["words.s2", "words.s1"])) == {"fr", "de", "ru", "zh"}
    rows = [(row["pair"], row["model"]) for row in more.plan("cka.s2")["comparisons"]]
    assert rows == [("en-fr", model) for model in ("bilingual", "monolingual", "random")]
    both = made(study={"more_seeds": [{"models": ["en-fr.default"], "seeds": [2]}]})
    assert both.jobs[2:] == ["cka.s1", "cka.s2"]
    assert [row["model"] for row in both.plan("cka.s2")["comparisons"]] == ["bilingual"]


def test_vectors_of_the_study_s_own_text_are_no_raw_files():
    mixed = made(languages={"de": {"vectors": "fasttext/wiki.de.vec"}})
    own = {code: str(mixed.trained_vectors(code)) for code in ("en", "fr", "ru", "zh")}
    assert mixed.plan("words.s1")["languages"]["fr"]["vectors"] == {code: own[code] for code in ("en", "fr")}
    assert set(mixed.own_vectors("words.s1")) == set(own.values())
    assert {Path(path).name for path in mixed.raw_words("words.s1") if Path(path).suffix != ".txt"} == {"wiki.de.vec"}
    assert made(languages={"en": {"vectors": None}}).own_vectors("words.s1") == [], "a baseline needs both languages"
