"""Records from the results of the analyses of section 5."""

import json
from typing import Any

import pytest

from xling.report.record_alignment import main
from xling.report.records import read_results


def analyses(folder, change=lambda _: None):
    """Write the results of three analyses of two seeds with a change, and return the flags that name them."""
    scores = {"p1": 0.25, "low": 0.2, "high": 0.3, "chance": 0.01}
    words = [
        {"figure": figure, "language": "fr", "vectors": vectors, "layer": layer, "pairs": pairs} | scores
        for figure, vectors, layer, pairs in (
            ("figure4a", "trained", None, 7),
            ("figure4b", "untrained", 3, 9),
            ("figure4b", "fasttext", None, 9),
        )
    ]
    sentences = [
        {"language": "fr", "encoders": "trained", "direction": "en-x", "layer": layer, "space": space} | scores
        for layer in (0, 1)
        for space in ("plain", "mapped")
    ]
    similar = {"pair": "en-en'", "model": "monolingual", "cka": {"L0": 0.0, "L1": 0.3, "AVER": 0.15}}
    counts = {figure: {"fr": {"test": {"source_words_kept": 5}}} for figure in ("figure4a", "figure4b")}
    results: dict[str, Any] = {
        name: {"records": records, "config": f"{name}-hash", "counts": counts}
        for name, records in (
            ("words.s3", words),
            ("words.s4", words),
            ("sentences.s3", sentences),
            ("cka.s3", [similar | {"matrix": [[0.0, 0.25], [0.5, 0.75]]}]),
            ("cka.s4", [similar | {"matrix": [[0.25, 0.5], [0.75, 1.0]]}]),
        )
    }
    change(results)
    flags: list[object] = ["--out-dir", folder / "records"]
    for name, result in results.items():
        (folder / f"{name}.json").write_text(json.dumps(result))
        (folder / f"{name}-plan.json").write_text(json.dumps({"config": f"{name}-hash", "seed": int(name[-1])}))
        flags += ["--analysis", f"{name}={folder / name}.json", "--plan", f"{name}={folder / name}-plan.json"]
    return flags


def test_records_are_what_the_report_reads(call, tmp_path):
    assert call(main, *analyses(tmp_path)).code == 0
    results = read_results([tmp_path / "records"])
    x, other = results.figure4a
    assert (x.vectors, x.seed, x.p1, x.low, x.chance, x.pairs) == ("BERT", 3, 25, 20, 1, 7)
    assert other.seed == 4
    in_context = [("untrained", 3, 3), ("fastText", None, None), ("untrained", 3, 4)]  # fastText has no seed: once
    assert [(x.vectors, x.layer, x.seed) for x in results.figure4b] == in_context
    assert call(main, *analyses(tmp_path), "--own-vectors", "de", "fr").code == 0
    _, own, _ = read_results([tmp_path / "records"]).figure4b
    assert (own.vectors, own.seed) == ("fastText", 1)  # trained once, by the study itself
    assert [(x.model, x.layer, x.p1) for x in results.figure6] == [("monolingual", n, 25) for n in (0, 1)]  # mapped
    expected = [(layer, seed, value) for seed in (3, 4) for layer, value in (("L0", 0.0), ("L1", 0.3), ("AVER", 0.15))]
    assert [(x.layer, x.seed, x.cka) for x in results.figure7] == expected
    rows = [f"en-en',monolingual,{a},{b},{0.125 + 0.5 * a + 0.25 * b}" for a in (0, 1) for b in (0, 1)]
    matrix = (tmp_path / "records/cka_matrix.csv").read_text()
    assert matrix.splitlines() == ["pair,model,layer_a,layer_b,cka", *rows]


@pytest.mark.parametrize(("right", "ends"), [(0.0, (0, 52.182)), (1.0, (47.818, 100))])
def test_few_words_that_all_agree_leave_an_interval(call, tmp_path, right, ends):
    same = {"p1": right, "low": right, "high": right}
    assert call(main, *analyses(tmp_path, lambda x: x["words.s3"]["records"][0].update(same))).code == 0
    static, _ = read_results([tmp_path / "records"]).figure4a
    assert (static.low, static.high) == pytest.approx(ends, abs=1e-3)  # of five words, by Clopper and Pearson


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda x: x["cka.s4"].update(config="old"),
            "cka.s4.json: of another configuration: old, not cka.s4-hash (del",
        ),
        (lambda x: x["cka.s4"].pop("records"), "cka.s4.json: not the result of an analysis: no 'records' (delete it"),
        (
            lambda x: x["words.s4"].update(records=[x["words.s3"]["records"][0] | {"pairs": 8}]),
            "words.s4.json: figure4a fr: other test items than for another seed (run both again)",
        ),
    ],
)
def test_a_result_that_is_not_as_planned_is_refused(refused, tmp_path, change, problem):
    assert problem in refused(main, *analyses(tmp_path, change), out=tmp_path / "records")


def test_every_analysis_needs_its_plan(refused, tmp_path):
    flags = analyses(tmp_path)[:-2]
    assert "--analysis and --plan must name the same" in refused(main, *flags, out=tmp_path / "records")
