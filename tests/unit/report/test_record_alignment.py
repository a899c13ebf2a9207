"""Records from the results of the analyses of section 5."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from xling.report.record_alignment import main
from xling.report.records import read_results

Call = Callable[..., Any]


def analyses(
    folder: Path, seeds: Sequence[float] = (0.3,), change: Callable[[dict[str, Any]], None] | None = None
) -> list[object]:
    """Write the results of three analyses, changed if wanted, and return the flags that name them."""
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
        {"pair": pair, "model": "monolingual", "by_seed": seeds,
         "layers_by_seed": [[0.2 * i, 0.3, 0.5] for i in range(len(seeds))],
         "matrix": [[0.1, 0.2, 0.0], [0.2, 0.3, 0.0], [0.0, 0.0, 0.5]]}
        for pair in ("en-fr", "en-en'")
    ]  # fmt: skip
    alone = {"source": "en", "languages": {"fr": {"seeds": [{"en": "states/en.mono.s3", "fr": "states/fr.mono.s3"}]}}}
    folders = [[{"folder": f"en.mono.s{3 + i}"}] for i in range(len(seeds))]
    compared = {"comparisons": [{"pair": r["pair"], "model": r["model"], "seeds": folders} for r in cka]}
    plans = {"words": alone, "sentences": alone, "cka": compared}
    counts = {figure: {"fr": {"test": {"source_words_kept": 5}}} for figure in ("figure4a", "figure4b")}
    results: dict[str, Any] = {
        name: {"records": records, "config": f"{name}-hash", "counts": counts}
        for name, records in (("words", words), ("sentences", sentences), ("cka", cka))
    }
    if change:
        change(results)
    flags: list[object] = ["--out-dir", folder / "records"]
    for name, result in results.items():
        (folder / f"{name}.json").write_text(json.dumps(result))
        (folder / f"{name}-plan.json").write_text(json.dumps({"config": f"{name}-hash", **plans[name]}))
        flags += ["--analysis", f"{name}={folder / name}.json", "--plan", f"{name}={folder / name}-plan.json"]
    return flags


def test_the_layers_of_figure_7_are_by_seed(call: Call, tmp_path: Path) -> None:
    assert call(main, *analyses(tmp_path, [0.28, 0.32])).code == 0
    found = [(x.layer, x.seed, x.cka) for x in read_results([tmp_path / "records"]).figure7 if x.pair == "en-fr"]
    assert found[:4] == [("AVER", 3, 0.28), ("AVER", 4, 0.32), ("L0", 3, 0.0), ("L0", 4, 0.2)]
    assert len(found) == 8


def test_records_are_what_the_report_reads(call: Call, tmp_path: Path) -> None:
    done = call(main, *analyses(tmp_path))
    assert done.code == 0, done.error
    results = read_results([tmp_path / "records"])
    (x,) = results.figure4a
    assert (x.vectors, x.seed, x.p1, x.low, x.chance, x.pairs) == ("BERT", 3, 25, 20, 1, 7)
    assert {(x.vectors, x.layer, x.seed) for x in results.figure4b} == {("untrained", 3, 3), ("fastText", None, None)}
    assert [(x.model, x.layer) for x in results.figure6] == [("monolingual", n) for n in (0, 0, 1, 1, 2, 2)]  # mapped
    assert {(score.pair, score.layer) for score in results.figure7} >= {("en-en'", "AVER"), ("en-fr", "L0")}
    matrix = (tmp_path / "records" / "cka_matrix.csv").read_text().splitlines()
    assert matrix[:2] == ["pair,model,layer_a,layer_b,cka", "en-fr,monolingual,0,0,0.1"]
    assert len(matrix) == 1 + 2 * 9


@pytest.mark.parametrize(("right", "ends"), [(0.0, (0, 52.182)), (1.0, (47.818, 100))])
def test_few_words_that_all_agree_leave_an_interval(
    call: Call, tmp_path: Path, right: float, ends: tuple[float, float]
) -> None:
    same = {"p1": right, "low": right, "high": right}
    assert call(main, *analyses(tmp_path, change=lambda x: x["words"]["records"][0].update(same))).code == 0
    (static,) = read_results([tmp_path / "records"]).figure4a
    assert (static.low, static.high) == pytest.approx(ends, abs=1e-3)  # of five words, by Clopper and Pearson


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda x: x["sentences"]["records"][0].update(by_seed=[0.1, 0.2]),
            "fr: 2 seeds, planned are 1 (run it again)",
        ),
        (lambda x: x["cka"].update(config="old"), "cka.json: of another configuration: old, not cka-hash (delete it"),
        (lambda x: x["cka"].pop("records"), "cka.json: not the result of an analysis: no 'records' (delete it"),
        (
            lambda x: x["cka"]["records"][0].pop("layers_by_seed"),
            "cka.json: not the result of an analysis: no 'layers_",
        ),
    ],
)
def test_a_result_that_is_not_as_planned_is_refused(
    call: Call, tmp_path: Path, change: Callable[[dict[str, Any]], None], problem: str
) -> None:
    done = call(main, *analyses(tmp_path, change=change))
    assert (done.code, done.error.count("\n")) == (2, 1)
    assert problem in done.error
    assert not (tmp_path / "records").exists()
