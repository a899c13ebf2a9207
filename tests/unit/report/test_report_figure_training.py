"""Training curves, emergence and anchors: what is read, what is drawn, and what a bad file costs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_up_records import metrics, study, write_model

from xling.core.errors import InputError
from xling.report import style
from xling.report.anchor_plot import anchor_plot, read_audit
from xling.report.anchor_plot import main as anchors_main
from xling.report.emergence import emergence, structures
from xling.report.metrics_file import Metrics, Validation, read_metrics
from xling.report.model_curves import model_figure, thinned, thousands
from xling.report.study_file import ModelName, StudyFile, model_name, read_study
from xling.report.training import loss_records, overview, read_all, shares
from xling.report.training import main as training_main

MODELS = ("en-fr.default.s1", "en-fr.sep-emb.s1", "en-ru.default.s1", "en.mono.s1", "en2.mono.s1")


@pytest.fixture
def known(tmp_path: Path) -> StudyFile:
    (tmp_path / "study.json").write_text(json.dumps(study()), encoding="utf-8")
    return read_study(tmp_path / "study.json")


@pytest.fixture
def trained(tmp_path: Path) -> dict[ModelName, Metrics]:
    for name in MODELS:
        write_model(tmp_path, name)
    return read_all([tmp_path / name / "metrics.jsonl" for name in MODELS])


def panels(figure: Any) -> dict[str, Any]:
    """Return the panels of a figure by title."""
    return {axes.get_title("left"): axes for axes in figure.axes}


def test_metrics_are_read_whole(tmp_path: Path) -> None:
    write_model(tmp_path, "en-fr.default.s1")
    found = read_metrics(tmp_path / "en-fr.default.s1" / "metrics.jsonl")
    lines = metrics("en", "fr")
    assert [step.update for step in found.steps] == [250, 500, 750, 1000]
    assert [step.lr for step in found.steps] == [line["lr"] for line in lines if line["kind"] == "train"]
    assert [point.losses for point in found.validations] == [x["loss"] for x in lines if x["kind"] == "validation"]
    assert found.validations[-1].cka == lines[-1]["cka"]
    assert found.validations[-1].sentences == 500


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no validation in it: nothing to draw (has the model been trained?)"),
        ("{", "line 1: not JSON"),
        ('{"kind": "test"}', "line 1: expected an object whose 'kind' is train or validation"),
        ("[1]", "line 1: expected an object whose 'kind'"),
        ('{"kind": "train", "update": 3, "losses": {"en": 2.0}}', "line 1: 'lr' is missing"),
        ('{"kind": "train", "update": "x", "losses": {"en": 2.0}, "lr": 1}', "line 1: not as expected"),
        ('{"kind": "validation", "update": 0, "loss": 3, "unigram_entropy": {}}', "line 1: not as expected"),
        ('{"kind": "train", "update": 3, "losses": {"en": 2.0}, "lr": 1}', "no validation in it"),
    ],
)
def test_bad_metrics_are_named(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_metrics(path)
    assert str(path) in str(caught.value)
    assert problem in str(caught.value)


def test_thinning_keeps_the_mean() -> None:
    xs, ys = thinned(list(range(1000)), [x % 7 for x in range(1000)], 100)
    assert len(xs) == 100
    assert sum(xs) / 100 == pytest.approx(499.5)
    assert sum(ys) / 100 == pytest.approx(sum(x % 7 for x in range(1000)) / 1000)


def test_few_points_are_drawn_as_they_are() -> None:
    assert thinned([1.0, 2.0, 3.0], [5.0, 6.0, 7.0], 3) == ([1.0, 2.0, 3.0], [5.0, 6.0, 7.0])
    assert thinned([], [], 3) == ([], [])


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (1250, "1250"), (10000, "10k"), (417000, "417k")])
def test_updates_are_written_short(number: float, text: str) -> None:
    assert thousands(number) == text


def test_a_models_figure_shows_losses_entropy_rate_and_structure(trained: dict[ModelName, Metrics]) -> None:
    found = trained[ModelName.of("en-fr.default.s1")]
    with style.styled():
        figure = model_figure(found, "Default, en-fr", {})
    losses, rate, retrieval, cka = figure.axes
    drawn = [list(line.get_ydata()) for line in losses.get_lines()]
    assert [point.losses["fr"] for point in found.validations] in drawn
    assert [5.0, 5.0] in drawn
    assert [step.losses["en"] for step in found.steps] in drawn
    assert list(rate.get_lines()[0].get_ydata()) == [step.lr for step in found.steps]
    assert len(cka.get_lines()) == 9
    assert len(retrieval.get_lines()) == 10  # nine layers, and chance
    assert list(retrieval.get_lines()[-1].get_ydata()) == [0.2, 0.2]


def test_a_monolingual_model_has_no_structure_to_show(trained: dict[ModelName, Metrics]) -> None:
    with style.styled():
        figure = model_figure(trained[ModelName.of("en2.mono.s1")], "Monolingual", {"en2": "en'"})
    assert len(figure.axes) == 2
    assert any(text.get_text().startswith("en′ 3.00") for text in figure.axes[0].texts)


def test_an_untrained_model_can_be_drawn() -> None:
    found = Metrics((), read_points(metrics("fr")[:1]))
    with style.styled():
        figure = model_figure(found, "Random, fr", {})
    assert list(figure.axes[0].get_xticks()) == [0.0, 1.0]


def read_points(lines: list[dict[str, Any]]) -> tuple[Any, ...]:
    """Return validations made of lines without structure."""
    return tuple(Validation(x["update"], x["loss"], x["unigram_entropy"], {}, [], 0) for x in lines)


def test_the_overview_has_losses_as_shares_of_the_entropy(trained: dict[ModelName, Metrics], known: StudyFile) -> None:
    with style.styled():
        by_title = panels(overview(trained, known))
    assert list(by_title) == ["Default", "Sep Emb", "Monolingual", ""]
    values = [value for _, value in shares(trained[ModelName.of("en-fr.sep-emb.s1")])]
    assert values[0] == pytest.approx(7.55 / 5)
    assert values in [list(line.get_ydata()) for line in by_title["Sep Emb"].get_lines()]
    assert {text.get_text() for text in by_title["Monolingual"].texts} == {"en", "en′"}


def test_default_is_drawn_pale_beside_other_settings_of_its_pair(
    trained: dict[ModelName, Metrics], known: StudyFile
) -> None:
    with style.styled():
        by_title = panels(overview(trained, known))
    colours = [line.get_color() for line in by_title["Sep Emb"].get_lines()]
    assert colours.count(style.pale(style.BLUE)) == 1
    assert style.pale(style.VERMILION) not in colours


def test_crossings_that_were_not_run_are_named(trained: dict[ModelName, Metrics], known: StudyFile) -> None:
    with style.styled():
        figure = overview(trained, known)
    note = figure._supxlabel.get_text().replace("\n", " ")
    assert "en-ru: Wiki-CC" in note
    assert "en-fr: Wiki-CC, No anchors" in note
    assert "Sep Emb + L1-6" in note


def test_records_of_the_overview_are_what_was_measured(trained: dict[ModelName, Metrics]) -> None:
    records = loss_records(trained)
    assert len(records) == (3 * 2 + 2) * 5
    assert records[1].loss == metrics("en", "fr")[0]["loss"]["fr"]


def test_emergence_has_every_layer_and_draws_means(trained: dict[ModelName, Metrics], known: StudyFile) -> None:
    records = structures(trained)
    assert len(records) == 3 * 5 * 9
    last = [record for record in records if record.model == "en-fr.default.s1" and record.update == 1000]
    with style.styled():
        figure = emergence(records, known)
    heights = [list(line.get_ydata()) for line in figure.axes[0].get_lines()]
    mean = sum(record.retrieval for record in last) / 9
    assert any(found[-1] == pytest.approx(mean) for found in heights)
    assert [0.2, 0.2] in heights  # chance among 500 sentences


def test_anchors_are_drawn_by_setting_and_language(tmp_path: Path, known: StudyFile) -> None:
    write_model(tmp_path, "en-fr.default.s1", 0.4)
    write_model(tmp_path, "en-fr.sep-emb.s1", 0.0)
    write_model(tmp_path, "en-en2.sep-emb.s1", 0.0)
    names = ("en-fr.default.s1", "en-fr.sep-emb.s1", "en-en2.sep-emb.s1")
    records = [record for name in names for record in read_audit(tmp_path / name / "anchors.json", known)]
    assert {record.pair for record in records} == {"en-fr", "en-en'"}
    with style.styled():
        first, second = anchor_plot(records, known).axes
    assert (first.get_title("left"), second.get_title("left")) == ("en-en′", "en-fr")
    assert [bar.get_width() for bar in second.patches] == [40.0, 40.0, 0.0, 0.0]
    assert [text.get_text() for text in first.texts] == ["not run", "0"]
    assert [text.get_text() for text in second.texts] == ["120", "0"]


def test_bad_inputs_of_the_commands_are_one_line(tmp_path: Path, call: Callable[..., Any]) -> None:
    write_model(tmp_path, "en-fr.default.s1")
    model, out = tmp_path / "en-fr.default.s1", tmp_path / "out"
    (tmp_path / "study.json").write_text(json.dumps(study()), encoding="utf-8")
    (tmp_path / "loose.json").write_text("{}", encoding="utf-8")
    (model / "anchors.json").write_text("{}", encoding="utf-8")
    study_flag = ("--study", tmp_path / "study.json", "--out-dir", out)
    for main, arguments, problem in (
        (anchors_main, (*study_flag, "--audits", model / "anchors.json"), "no audit of anchors: 'running_tokens'"),
        (anchors_main, (*study_flag, "--audits", tmp_path / "loose.json"), "not in the folder of a model (a folder"),
        (training_main, (*study_flag, "--metrics", tmp_path / "none"), "not in the folder of a model"),
        (training_main, (*study_flag, "--metrics", model / "none.jsonl"), "none.jsonl: no such file"),
    ):
        code, error = call(main, *arguments)
        assert (code, error.count("\n")) == (2, 1)
        assert problem in error
    assert not out.exists()


def test_a_models_name_is_its_folders() -> None:
    name = model_name(Path("models/en-fr.sep-emb-l1-3.s2/metrics.jsonl"))
    assert name == ModelName(("en", "fr"), "sep-emb-l1-3", "s2")
    assert str(name) == "en-fr.sep-emb-l1-3.s2"
    assert name.language == "fr"
