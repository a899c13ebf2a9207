"""From the jobs' results to the records of Figures 5 and 8, and what the workflow asks of a study."""

import json
import math

import pytest
from embedded import study

from workflow_scripts.study import Study
from xling.report import record_contextual
from xling.report.evidence import to_z
from xling.report.means import contextual_means
from xling.report.models import BI_MLM, BI_MLM_ALIGN, MLM_ALIGN
from xling.report.records import ContextualScore, read_records

REACH = 8.0  # of the interval of test sentences
ALONE = {"en": "en.mono.s1", "fr": "fr.mono.s1", "ru": "ru.mono.s1"}
BOTH = dict.fromkeys(("en", "fr"), "en-fr.default.s1")


def result(models, scores, untrained=False):
    """Return what a job writes; `plain` scores are ten points below `aligned` ones, and no result has its counts."""

    def found(score):
        return {"measure": "f1", "score": float(score), "low": score - REACH, "high": score + REACH}

    trainings = []
    for layer in (0, 4):
        for way in ("aligned",) if models is ALONE else ("plain", "aligned"):
            own = {code: found(score + layer - 10 * (way == "plain")) for code, score in scores.items()}
            about = {"task": "ner", "data": "ner.toy", "layer": layer, "way": way}
            trainings.append(about | {"scores": {"en": found(90)} | own})
    about = {"config": "abc", "untrained": untrained, "models": models, "source": "en", "seed": 1}
    return about | {"trainings": trainings}


def write_results(folder):
    """Write the results of four jobs and return the flags that collect them."""
    results = {
        "alone": result(ALONE, {"fr": 60.0, "ru": 40.0}),
        "both": result(BOTH, {"fr": 70.0}),
        "floor": result(ALONE, {"fr": 20.0, "ru": 10.0}, untrained=True),
        "both-floor": result(BOTH, {"fr": 45.0}, untrained=True),
    }
    flags = ["--figure5", str(folder / "figure5.csv"), "--figure8", str(folder / "figure8.csv")]
    for name, value in results.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
        flags += ["--result", f"{name}={folder / name}.json", "--hash", f"{name}=abc"]
    return flags


def test_both_figures_and_their_floors(tmp_path, call):
    assert call(record_contextual.main, *write_results(tmp_path)).code == 0
    five, eight = (contextual_means(read_records(tmp_path / f"figure{n}.csv", ContextualScore)) for n in (5, 8))
    expected = [("fr", MLM_ALIGN, 60, 20), ("fr", BI_MLM, 60, 35), ("ru", MLM_ALIGN, 40, 10)]
    expected += [("fr", BI_MLM, 60, 35), ("fr", BI_MLM_ALIGN, 70, 45)]  # of Figure 8
    assert [(x.language, x.series, x.layer, x.score, x.floor) for x in (*five, *eight)] == [
        (*own, layer, score + layer, floor + layer) for *own, score, floor in expected for layer in (0, 4)
    ]
    for x in (*five, *eight):  # as far as the test items reach, on the scale where they reach as far to both sides
        low, middle, high = (to_z((end or 0.0) / 100) for end in (x.low, x.score, x.high))
        on_z = REACH / 100 / (2 * math.sqrt(x.score / 100 * (1 - x.score / 100)))
        assert (middle - low, high - middle) == pytest.approx((on_z, on_z), rel=1e-3)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("both", {"config": "xyz"}, "both.json: of another configuration: xyz, not abc (delete it"),
        ("floor", {"trainings": []}, "ner fr layer 0: no untrained MLM align beside it"),
        ("both-floor", {"trainings": []}, "ner fr layer 0: no untrained biMLM beside it"),
        ("both-floor", {"models": ALONE}, "ner fr layer 0: no untrained biMLM beside it"),
        ("floor", {"trainings": None, "source": None}, "floor.json: not the result of a contextual transfer job"),
    ],
)
def test_results_that_do_not_go_together(name, change, problem, tmp_path, refused):
    flags, path = write_results(tmp_path), tmp_path / f"{name}.json"
    value = json.loads(path.read_text()) | change
    path.write_text(json.dumps({key: kept for key, kept in value.items() if kept is not None}))
    assert problem in refused(record_contextual.main, *flags, out=tmp_path / "figure5.csv")


@pytest.mark.parametrize(
    ("changes", "cells"),
    [
        ({"languages": ["fr"]}, []),
        ({"tasks": ["xnli"]}, []),
        ({"languages": ["en", "ru"], "skip": ["en-ru.default"]}, ["en.mono", "en.untrained"]),
        (
            {"tasks": ["ner"], "pairs": ["en-fr"], "seeds": [3, 4]},
            ["en.mono", "en.untrained", "en-fr.default", "en-fr.untrained"],
        ),
    ],
)
def test_a_study_has_the_figures_that_its_models_allow(changes, cells):
    jobs = Study(study(study={"skip": []} | changes)).contextual.jobs
    assert list(jobs) == [f"{cell}.s{seed}" for seed in changes.get("seeds", [1]) for cell in cells]
