"""From the jobs' results to the records of Figures 5 and 8, and what the workflow asks of a study."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedded import study

from workflow_scripts.checks import check
from workflow_scripts.config import ConfigError
from workflow_scripts.study import Study
from xling.report import record_contextual
from xling.report.evidence import to_z
from xling.report.means import contextual_means
from xling.report.records import BI_MLM, BI_MLM_ALIGN, MLM_ALIGN, ContextualScore, read_records

Call = Callable[..., Any]
REACH = 8.0  # of the interval of test sentences


def result(
    models: dict[str, str], scores: dict[str, float], ways: tuple[str, ...], untrained: bool = False
) -> dict[str, Any]:
    """Return what a job writes; `plain` scores are ten points below `aligned` ones."""
    trainings = [
        {
            "task": "ner", "data": "ner.toy", "layer": layer, "way": way,
            "scores": {"en": found(90)}
            | {code: found(score + layer - 10 * (way == "plain")) for code, score in scores.items()},
        }
        for layer in (0, 4)
        for way in ways
    ]  # fmt: skip
    return {
        "config": "abc",
        "untrained": untrained,
        "models": models,
        "source": "en",
        "seed": 1,
        "trainings": trainings,
    }


def found(score: float) -> dict[str, Any]:
    """Return what a job says of a test set, here without its counts."""
    return {"measure": "f1", "score": float(score), "low": score - REACH, "high": score + REACH}


ALONE = {"en": "en.mono.s1", "fr": "fr.mono.s1", "ru": "ru.mono.s1"}
BOTH = {"en": "en-fr.default.s1", "fr": "en-fr.default.s1"}


def write_results(folder: Path) -> list[str]:
    """Write the results of four jobs and return the flags that collect them."""
    results = {
        "alone": result(ALONE, {"fr": 60.0, "ru": 40.0}, ("aligned",)),
        "both": result(BOTH, {"fr": 70.0}, ("plain", "aligned")),
        "floor": result(ALONE, {"fr": 20.0, "ru": 10.0}, ("aligned",), untrained=True),
        "both-floor": result(BOTH, {"fr": 45.0}, ("plain", "aligned"), untrained=True),
    }
    flags = ["--figure5", str(folder / "figure5.csv"), "--figure8", str(folder / "figure8.csv")]
    for name, value in results.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
        flags += ["--result", f"{name}={folder / name}.json", "--hash", f"{name}=abc"]
    return flags


def test_both_figures_and_their_floors(tmp_path: Path, call: Call) -> None:
    assert call(record_contextual.main, *write_results(tmp_path)).code == 0
    five, eight = (contextual_means(read_records(tmp_path / f"figure{n}.csv", ContextualScore)) for n in (5, 8))
    assert [(x.language, x.series, x.layer, x.score, x.floor) for x in five] == [
        ("fr", MLM_ALIGN, 0, 60.0, 20.0),
        ("fr", MLM_ALIGN, 4, 64.0, 24.0),
        ("fr", BI_MLM, 0, 60.0, 35.0),
        ("fr", BI_MLM, 4, 64.0, 39.0),
        ("ru", MLM_ALIGN, 0, 40.0, 10.0),
        ("ru", MLM_ALIGN, 4, 44.0, 14.0),
    ]
    assert [(x.series, x.layer, x.score, x.floor) for x in eight] == [
        (BI_MLM, 0, 60.0, 35.0),
        (BI_MLM, 4, 64.0, 39.0),
        (BI_MLM_ALIGN, 0, 70.0, 45.0),
        (BI_MLM_ALIGN, 4, 74.0, 49.0),
    ]
    for x in (*five, *eight):  # as far as the test items reach, on the scale where they reach as far to both sides
        low, middle, high = (to_z((end or 0.0) / 100) for end in (x.low, x.score, x.high))
        on_z = REACH / 100 / (2 * math.sqrt(x.score / 100 * (1 - x.score / 100)))
        assert (middle - low, high - middle) == pytest.approx((on_z, on_z), rel=1e-3)


def test_the_mean_over_seeds(tmp_path: Path, call: Call) -> None:
    flags = write_results(tmp_path)
    again = result(ALONE, {"fr": 70.0, "ru": 40.0}, ("aligned",)) | {"seed": 2}
    (tmp_path / "again.json").write_text(json.dumps(again))
    flags += ["--result", f"again={tmp_path}/again.json", "--hash", "again=abc"]
    assert call(record_contextual.main, *flags).code == 0
    scores = contextual_means(read_records(tmp_path / "figure5.csv", ContextualScore))
    assert [x.score for x in scores if (x.language, x.series) == ("fr", MLM_ALIGN)] == [65.0, 69.0]
    assert [x.score for x in scores if (x.language, x.series) == ("ru", MLM_ALIGN)] == [40.0, 44.0]
    # Seeds differ in French and agree in Russian: their variance is pooled over languages, and two seeds halve it.
    reach = {(x.language, x.series, x.layer): (x.high or 0.0) - (x.low or 0.0) for x in scores}
    assert reach["fr", BI_MLM, 0] > reach["fr", MLM_ALIGN, 0] > 2 * REACH + 1
    assert reach["ru", MLM_ALIGN, 0] > 2 * REACH + 1


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("both", {"config": "xyz"}, "both.json: of another configuration: xyz, not abc (delete it"),
        ("floor", {"trainings": []}, "ner fr layer 0: no untrained MLM align beside it"),
        ("both-floor", {"trainings": []}, "ner fr layer 0: no untrained biMLM beside it"),
        ("both-floor", {"models": ALONE}, "ner fr layer 0: no untrained biMLM beside it"),
        ("floor", {"trainings": None, "source": None}, None),
    ],
)
def test_results_that_do_not_go_together(
    name: str, change: dict[str, Any], problem: str | None, tmp_path: Path, call: Call
) -> None:
    flags, path = write_results(tmp_path), tmp_path / f"{name}.json"
    value = json.loads(path.read_text()) | change
    path.write_text(json.dumps({key: kept for key, kept in value.items() if kept is not None}))
    ended = call(record_contextual.main, *flags)
    assert ended.code == 2
    assert (problem or "floor.json: not the result of a contextual transfer job") in ended.error
    assert not (tmp_path / "figure5.csv").exists()


def test_the_embedded_study_has_one_job_a_source_encoder() -> None:
    contextual = Study(study()).contextual
    jobs = contextual.jobs
    assert list(jobs) == [
        "en.mono.s1",
        "en.untrained.s1",
        "en-fr.default.s1",
        "en-fr.untrained.s1",
        "en-ru.default.s1",
        "en-ru.untrained.s1",
        "en-zh.default.s1",
        "en-zh.untrained.s1",
    ]
    assert jobs["en.mono.s1"].targets == jobs["en.untrained.s1"].targets == ["fr", "ru", "zh"]
    assert jobs["en-ru.default.s1"].ways == ("plain", "aligned")
    sets = [len(contextual.data(name)) * len(job.ways) for name, job in jobs.items()]
    assert sum(sets) == 3 + 3 + 3 * (4 + 4)  # trainings a layer
    data = contextual.data("en.mono.s1")
    assert {name: list(own["test"]) for name, own in data.items()} == {
        "ner.wikiann": ["en", "fr", "ru"],
        "ner.conll2003": ["en", "zh"],
        "parsing.ud": ["en", "fr", "ru", "zh"],
    }
    assert not [path for path in contextual.model_files("en.untrained.s1") if path.name != "run.json"]


def test_the_floor_of_the_bilingual_model_is_that_model_untrained_with_its_own_vocabulary() -> None:
    contextual = Study(study()).contextual
    model, floor = (contextual.jobs[f"en-ru.{name}.s1"] for name in ("default", "untrained"))
    assert (floor.models, floor.ways, floor.targets) == (model.models, model.ways, model.targets)
    assert (model.untrained, floor.untrained) == (False, True)
    assert contextual.vocabularies(floor.name) == contextual.vocabularies(model.name)
    assert len(set(contextual.vocabularies(floor.name).values())) == 1
    assert [path.name for path in contextual.model_files(floor.name)] == ["run.json"]
    made = contextual.study.identity
    assert made("contextual", floor.name) != made("contextual", model.name)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"languages": ["fr"]}, []),
        ({"tasks": ["xnli"]}, []),
        ({"languages": ["en", "ru"], "skip": ["en-ru.default"]}, ["en.mono.s1", "en.untrained.s1"]),
        (
            {"tasks": ["ner"], "pairs": ["en-fr"], "seeds": [3, 4]},
            [
                *("en.mono.s3", "en.untrained.s3", "en-fr.default.s3", "en-fr.untrained.s3"),
                *("en.mono.s4", "en.untrained.s4", "en-fr.default.s4", "en-fr.untrained.s4"),
            ],
        ),
    ],
)
def test_a_study_has_the_figures_that_its_models_allow(changes: dict[str, Any], expected: list[str]) -> None:
    assert list(Study(study(study={"skip": []} | changes)).contextual.jobs) == expected


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"layers": [0, 9]}, "align.contextual.layers: 9 goes beyond the model's 8 layers"),
        ({"heads": 3}, "align.contextual.heads: 3 does not divide model.width 32"),
    ],
)
def test_options_that_no_encoder_has_are_told_before_any_job(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError) as problem:
        check(study(align={"contextual": changes}))
    assert problem.value.problems == [line]
