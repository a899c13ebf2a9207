"""Records from the results of the analyses of section 5."""

import json
from typing import Any

import pytest

from xling.report.record_alignment import main
from xling.report.records import read_results


def analyses(folder, change=lambda _: None):
    """Write the results of three analyses with a change, and return the flags that name them."""
    scores = {"p1": 0.25, "low": 0.2, "high": 0.3, "chance": 0.01, "by_seed": [0.25]}
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
    by_layer, matrix = [[0.0, 0.3], [0.2, 0.4]], [[0.1, 0.2], [0.3, 0.4]]
    similar = {"pair": "en-en'", "model": "monolingual", "by_seed": [0.15, 0.3], "layers_by_seed": by_layer}
    alone = {"source": "en", "languages": {"fr": {"seeds": [{"en": "states/en.mono.s3", "fr": "states/fr.mono.s3"}]}}}
    folders = [[{"folder": f"en.mono.s{seed}"}] for seed in (3, 4)]
    plans = {"words": alone, "sentences": alone, "cka": {"comparisons": [similar | {"seeds": folders}]}}
    counts = {figure: {"fr": {"test": {"source_words_kept": 5}}} for figure in ("figure4a", "figure4b")}
    results: dict[str, Any] = {
        name: {"records": records, "config": f"{name}-hash", "counts": counts}
        for name, records in (("words", words), ("sentences", sentences), ("cka", [similar | {"matrix": matrix}]))
    }
    change(results)
    flags: list[object] = ["--out-dir", folder / "records"]
    for name, result in results.items():
        (folder / f"{name}.json").write_text(json.dumps(result))
        (folder / f"{name}-plan.json").write_text(json.dumps({"config": f"{name}-hash", **plans[name]}))
        flags += ["--analysis", f"{name}={folder / name}.json", "--plan", f"{name}={folder / name}-plan.json"]
    return flags


def test_records_are_what_the_report_reads(call, tmp_path):
    assert call(main, *analyses(tmp_path)).code == 0
    results = read_results([tmp_path / "records"])
    (x,) = results.figure4a
    assert (x.vectors, x.seed, x.p1, x.low, x.chance, x.pairs) == ("BERT", 3, 25, 20, 1, 7)
    assert [(x.vectors, x.layer, x.seed) for x in results.figure4b] == [("untrained", 3, 3), ("fastText", None, None)]
    assert [(x.model, x.layer, x.p1) for x in results.figure6] == [("monolingual", n, 25) for n in (0, 1)]  # mapped
    expected = [("AVER", 3, 0.15), ("AVER", 4, 0.3), ("L0", 3, 0.0), ("L0", 4, 0.2), ("L1", 3, 0.3), ("L1", 4, 0.4)]
    assert [(x.layer, x.seed, x.cka) for x in results.figure7] == expected
    rows = [f"en-en',monolingual,{a},{b},{0.1 * (1 + 2 * a + b):.1f}" for a in (0, 1) for b in (0, 1)]
    matrix = (tmp_path / "records/cka_matrix.csv").read_text()
    assert matrix.splitlines() == ["pair,model,layer_a,layer_b,cka", *rows]


@pytest.mark.parametrize(("right", "ends"), [(0.0, (0, 52.182)), (1.0, (47.818, 100))])
def test_few_words_that_all_agree_leave_an_interval(call, tmp_path, right, ends):
    same = {"p1": right, "low": right, "high": right}
    assert call(main, *analyses(tmp_path, lambda x: x["words"]["records"][0].update(same))).code == 0
    (static,) = read_results([tmp_path / "records"]).figure4a
    assert (static.low, static.high) == pytest.approx(ends, abs=1e-3)  # of five words, by Clopper and Pearson


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda x: x["words"]["records"][0].update(by_seed=[0.1, 0.2]), "fr: 2 seeds, planned are 1 (run it again)"),
        (lambda x: x["cka"].update(config="old"), "cka.json: of another configuration: old, not cka-hash (delete it"),
        (lambda x: x["cka"].pop("records"), "cka.json: not the result of an analysis: no 'records' (delete it"),
    ],
)
def test_a_result_that_is_not_as_planned_is_refused(refused, tmp_path, change, problem):
    assert problem in refused(main, *analyses(tmp_path, change), out=tmp_path / "records")


def test_every_analysis_needs_its_plan(refused, tmp_path):
    flags = analyses(tmp_path)[:-2]
    assert "--analysis and --plan must name the same" in refused(main, *flags, out=tmp_path / "records")
