"""What the analyses of section 5 are made from: which encoders, which texts, which are compared."""

import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedded import ROOT, study
from scipy.stats import t

from workflow_scripts.alignment import Alignment
from workflow_scripts.config import read_config
from workflow_scripts.study import Study
from xling.report.record_alignment import main
from xling.report.records import read_results

DEMO = Alignment(Study(study()))
PAIRS = ["en-en'", "en-fr", "en-de", "en-ru", "en-zh"]


def made(**changes: Any) -> Alignment:
    return Alignment(Study(study(**changes)))


def test_figure_7_compares_five_pairs_three_ways() -> None:
    plan = json.loads(DEMO.plan("cka"))
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
    assert taken.word_targets == ["de", "ru", "zh"]
    assert taken.sentence_targets == ["fr", "ru", "zh"]
    assert taken.targets == DEMO.targets


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
    assert words[words.index("--lines") + 1 :][:3] == ["5000", "--words", "200000"]
    assert words[-1] == "--untrained"
    assert [text.partition("=")[0] for text in words if ":fr=" in text] == ["parallel:fr", "tatoeba-fr:fr"]
    assert "--untrained" not in DEMO.flags("en-fr.default.s1")
    assert "--text" not in DEMO.flags("en-fr.default.s1")


def test_seeds_that_both_sides_have_are_compared() -> None:
    more = made(study={"more_seeds": [{"models": ["en.mono", "fr.mono", "en-fr.default"], "seeds": [1, 2]}]})
    plan = json.loads(more.plan("sentences"))["languages"]
    assert [Path(seed["fr"]).name for seed in plan["fr"]["seeds"]] == ["fr.mono.s1", "fr.mono.s2"]
    assert [Path(seed["en"]).name for seed in plan["fr"]["seeds"]] == ["en.mono.s1", "en.mono.s2"]
    assert len(plan["de"]["seeds"]) == 1
    rows = {(row["pair"], row["model"]): len(row["seeds"]) for row in json.loads(more.plan("cka"))["comparisons"]}
    assert (rows["en-fr", "bilingual"], rows["en-fr", "random"], rows["en-ru", "bilingual"]) == (2, 2, 1)


def test_a_study_without_fasttext_or_a_copys_own_sentences() -> None:
    bare = made(languages={"fr": {"vectors": None}, "en2": {"parallel": None}})
    plan = json.loads(bare.plan("words"))["languages"]
    assert plan["fr"]["vectors"] is None
    assert set(plan["de"]["vectors"]) == {"en", "de"}
    assert bare.sentences("en2.mono.s1")["parallel:en2"] == bare.sentences("en.mono.s1")["parallel:en"]


def test_without_a_model_of_the_source_there_is_nothing_to_compare() -> None:
    alone = made(study={"languages": ["fr"], "extra": []})
    assert (alone.analyses, alone.encoders, alone.records) == ([], [], [])


def test_every_preset_has_all_analyses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLING_DATA", "/data")
    for path in (ROOT / "presets").glob("*.yaml"):
        there = Alignment(Study(read_config(ROOT / "config.yaml", path)))
        assert there.analyses == ["words", "sentences", "cka"]
        assert len(there.records) == 6


def test_a_hash_changes_with_the_models_and_not_with_the_place() -> None:
    before = DEMO.config_hash("words")
    assert made(study={"results": "/elsewhere"}, data={"root": "/data"}).config_hash("words") == before
    others = [made(pretrain={"lr": 0.001}), made(align={"word_sentences": 7}), made(text={"lowercase": False})]
    hashes = [other.config_hash("words") for other in [*others, Alignment(Study(study(), {"align": 2}))]]
    assert len({before, DEMO.config_hash("cka"), *hashes}) == 6


def analyses(folder: Path, source: str = "en", seeds: Sequence[float] = (0.3,)) -> list[object]:
    """Write the results of three analyses and return the flags that name them."""
    scores = {"p1": 0.25, "low": 0.2, "high": 0.3, "chance": 0.01, "by_seed": [0.25]}
    words = [
        {"figure": "figure4a", "language": "fr", "vectors": "trained", "layer": None, "pairs": 7} | scores,
        {"figure": "figure4b", "language": "fr", "vectors": "untrained", "layer": 3, "pairs": 9} | scores,
        {"figure": "figure4b", "language": "fr", "vectors": "fasttext", "layer": None, "pairs": 9} | scores,
    ]
    sentences = [
        {"language": "fr", "encoders": "trained", "direction": d, "layer": i, "space": s} | scores | {"p1": 0.1 * i}
        for i in range(3) for s in ("plain", "mapped") for d in ("en-x", "x-en")
    ]  # fmt: skip
    cka = [
        {"pair": pair, "model": "monolingual", "cka": {"L0": 0.1, "L1": 0.3, "L2": 0.5, "AVER": 0.3}, "by_seed": seeds,
         "matrix": [[0.1, 0.2, 0.0], [0.2, 0.3, 0.0], [0.0, 0.0, 0.5]]}
        for pair in (f"{source}-fr", f"{source}-{source}'")
    ]  # fmt: skip
    counts = {figure: {"fr": {"test": {"source_words_kept": 5}}} for figure in ("figure4a", "figure4b")}
    flags: list[object] = []
    for name, records in (("words", words), ("sentences", sentences), ("cka", cka)):
        result = {"records": records, "config": f"{name}-hash", "counts": counts}
        (folder / f"{name}.json").write_text(json.dumps(result))
        flags += ["--analysis", f"{name}={folder / name}.json", "--config-hash", f"{name}={name}-hash"]
    return flags


def test_averages_of_figure_7_have_intervals_where_there_are_seeds(call: Callable[..., Any], tmp_path: Path) -> None:
    for name, seeds in (("one", [0.3]), ("two", [0.28, 0.32])):
        flags = analyses(tmp_path, seeds=seeds)
        assert call(main, *flags, "--out-dir", tmp_path / name).code == 0
    alone, several = (read_results([tmp_path / name]).figure7 for name in ("one", "two"))
    assert {(score.low, score.high) for score in alone} == {(None, None)}
    spread = t.ppf(0.975, df=2) * np.sqrt(0.0008)  # two pairs of two seeds each: one freedom each
    for score in several:
        reach = pytest.approx((0.3 - spread / np.sqrt(2), 0.3 + spread / np.sqrt(2)))
        assert (score.low, score.high) == (reach if score.layer == "AVER" else (None, None))


def test_records_are_what_the_report_reads(call: Callable[..., Any], tmp_path: Path) -> None:
    done = call(main, *analyses(tmp_path), "--out-dir", tmp_path / "records")
    assert done.code == 0, done.error
    results = read_results([tmp_path / "records"])
    (static,) = results.figure4a
    assert (static.vectors, static.p1, static.low, static.chance, static.pairs) == ("BERT", 25, 20, 1, 7)
    assert {(score.vectors, score.layer) for score in results.figure4b} == {("untrained", 3), ("fastText", None)}
    assert len(results.figure6) == 6  # mapped only
    assert {score.model for score in results.figure6} == {"monolingual"}
    assert {(score.pair, score.layer) for score in results.figure7} >= {("en-en'", "AVER"), ("en-fr", "L0")}
    matrix = (tmp_path / "records" / "cka_matrix.csv").read_text().splitlines()
    assert matrix[:3] == [
        "pair,model,layer_a,layer_b,cka", "en-fr,monolingual,0,0,0.1", "en-fr,monolingual,0,1,0.2",
    ]  # fmt: skip
    assert len(matrix) == 1 + 2 * 9
    header, row = (tmp_path / "records" / "pearson.csv").read_text().splitlines()
    assert header == "pair,layers,pearson"
    assert row.split(",")[:2] == ["en-fr", "3"]
    assert float(row.split(",")[2]) == pytest.approx(1)


@pytest.mark.parametrize(("right", "ends"), [(0.0, (0, 52.182)), (1.0, (47.818, 100))])
def test_few_words_that_all_agree_leave_an_interval(
    call: Callable[..., Any], tmp_path: Path, right: float, ends: tuple[float, float]
) -> None:
    flags = analyses(tmp_path)
    found = json.loads((tmp_path / "words.json").read_text())
    found["records"][0] |= {"p1": right, "low": right, "high": right}
    (tmp_path / "words.json").write_text(json.dumps(found))
    assert call(main, *flags, "--out-dir", tmp_path / "records").code == 0
    (static,) = read_results([tmp_path / "records"]).figure4a
    assert (static.low, static.high) == pytest.approx(ends, abs=1e-3)  # of five words, by Clopper and Pearson


def test_correlations_are_of_pairs_with_the_studys_source(call: Callable[..., Any], tmp_path: Path) -> None:
    done = call(main, *analyses(tmp_path, source="ru"), "--out-dir", tmp_path / "records")
    assert done.code == 0, done.error
    _, row = (tmp_path / "records" / "pearson.csv").read_text().splitlines()
    assert row.split(",")[:2] == ["ru-fr", "3"]


def test_a_result_of_another_configuration_is_refused(call: Callable[..., Any], tmp_path: Path) -> None:
    flags = analyses(tmp_path)
    (tmp_path / "cka.json").write_text(json.dumps({"records": [], "config": "old"}))
    done = call(main, *flags, "--out-dir", tmp_path / "records")
    assert (done.code, done.error.count("\n")) == (2, 1)
    assert "cka.json: of configuration 'old', not 'cka-hash' (run the analysis again)" in done.error
    assert not (tmp_path / "records").exists()
