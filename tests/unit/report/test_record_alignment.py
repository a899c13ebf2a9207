"""Records from the results of the analyses of section 5."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import t

from xling.report.record_alignment import main
from xling.report.records import read_results


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
    assert "cka.json: of another configuration: old, not cka-hash (delete it" in done.error
    assert not (tmp_path / "records").exists()
