"""Records from the results of the analyses of section 5."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

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
        {"language": "fr", "encoders": "trained", "direction": d, "layer": i, "space": s} | scores | {"by_seed": [0.1 * i]}
        for i in range(3) for s in ("plain", "mapped") for d in ("en-x", "x-en")
    ]  # fmt: skip
    cka = [
        {"pair": pair, "model": "monolingual", "cka": {"L0": 0.1, "L1": 0.3, "L2": 0.5, "AVER": 0.3}, "by_seed": seeds,
         "matrix": [[0.1, 0.2, 0.0], [0.2, 0.3, 0.0], [0.0, 0.0, 0.5]]}
        for pair in (f"{source}-fr", f"{source}-{source}'")
    ]  # fmt: skip
    alone = {"source": "en", "languages": {"fr": {"seeds": [{"en": "states/en.mono.s3", "fr": "states/fr.mono.s3"}]}}}
    compared = [
        {
            "pair": r["pair"],
            "model": r["model"],
            "seeds": [[{"folder": f"en.mono.s{3 + i}"}] for i in range(len(seeds))],
        }
        for r in cka
    ]
    planned = {"words": alone, "sentences": alone, "cka": {"comparisons": compared}}
    counts = {figure: {"fr": {"test": {"source_words_kept": 5}}} for figure in ("figure4a", "figure4b")}
    flags: list[object] = []
    for name, records in (("words", words), ("sentences", sentences), ("cka", cka)):
        result = {"records": records, "config": f"{name}-hash", "counts": counts}
        (folder / f"{name}.json").write_text(json.dumps(result))
        (folder / f"{name}-plan.json").write_text(json.dumps({"config": f"{name}-hash", **planned[name]}))
        flags += ["--analysis", f"{name}={folder / name}.json", "--plan", f"{name}={folder / name}-plan.json"]
    return flags


def test_layers_of_figure_7_are_by_seed_where_the_result_has_them(call: Callable[..., Any], tmp_path: Path) -> None:
    flags = analyses(tmp_path, seeds=[0.28, 0.32])
    assert call(main, *flags, "--out-dir", tmp_path / "older").code == 0
    result = json.loads((tmp_path / "cka.json").read_text())
    for record in result["records"]:
        record["layers_by_seed"] = [[0.0, 0.3, 0.5], [0.2, 0.3, 0.5]]
    (tmp_path / "cka.json").write_text(json.dumps(result))
    assert call(main, *flags, "--out-dir", tmp_path / "newer").code == 0
    older, newer = (
        [(x.layer, x.seed, x.cka) for x in read_results([tmp_path / name]).figure7 if x.pair == "en-fr"]
        for name in ("older", "newer")
    )
    assert older[:3] == [("AVER", 3, 0.28), ("AVER", 4, 0.32), ("L0", None, 0.1)]
    assert newer[:4] == [*older[:2], ("L0", 3, 0.0), ("L0", 4, 0.2)]
    assert (len(older), len(newer)) == (5, 8)


def test_records_are_what_the_report_reads(call: Callable[..., Any], tmp_path: Path) -> None:
    done = call(main, *analyses(tmp_path), "--out-dir", tmp_path / "records")
    assert done.code == 0, done.error
    results = read_results([tmp_path / "records"])
    (static,) = results.figure4a
    assert (static.vectors, static.seed, static.p1, static.low, static.chance, static.pairs) == (
        "BERT",
        3,
        25,
        20,
        1,
        7,
    )
    assert {(x.vectors, x.layer, x.seed) for x in results.figure4b} == {("untrained", 3, 3), ("fastText", None, None)}
    assert len(results.figure6) == 6  # mapped only
    assert {score.model for score in results.figure6} == {"monolingual"}
    assert {(score.pair, score.layer) for score in results.figure7} >= {("en-en'", "AVER"), ("en-fr", "L0")}
    matrix = (tmp_path / "records" / "cka_matrix.csv").read_text().splitlines()
    assert matrix[:3] == [
        "pair,model,layer_a,layer_b,cka", "en-fr,monolingual,0,0,0.1", "en-fr,monolingual,0,1,0.2",
    ]  # fmt: skip
    assert len(matrix) == 1 + 2 * 9


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


def test_a_result_with_other_seeds_than_planned_is_refused(call: Callable[..., Any], tmp_path: Path) -> None:
    flags = analyses(tmp_path)
    found = json.loads((tmp_path / "sentences.json").read_text())
    found["records"][0]["by_seed"] = [0.1, 0.2]
    (tmp_path / "sentences.json").write_text(json.dumps(found))
    done = call(main, *flags, "--out-dir", tmp_path / "records")
    assert "fr: 2 seeds, planned are 1 (run it again)" in done.error


def test_a_result_of_another_configuration_is_refused(call: Callable[..., Any], tmp_path: Path) -> None:
    flags = analyses(tmp_path)
    (tmp_path / "cka.json").write_text(json.dumps({"records": [], "config": "old"}))
    done = call(main, *flags, "--out-dir", tmp_path / "records")
    assert (done.code, done.error.count("\n")) == (2, 1)
    assert "cka.json: of another configuration: old, not cka-hash (delete it" in done.error
    assert not (tmp_path / "records").exists()
