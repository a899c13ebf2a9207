"""Training curves, emergence, anchors and schematics: what is read, what is drawn, and what a bad file costs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from embedded import SEP_TOKENS
from embedded import study as embedded_config
from made_up_records import metrics, sharing, study, write_model
from matplotlib.patches import Ellipse, Rectangle

from workflow_scripts.describe import drawn_study, merges
from workflow_scripts.study import Study as WorkflowStudy
from xling.core.errors import InputError
from xling.report import style
from xling.report.figures.bars import anchor_plot, read_audit
from xling.report.figures.metrics import Metrics, Validation, read_metrics
from xling.report.figures.schematic import comparisons, figure1, figure2
from xling.report.figures.study import ModelName, Study, model_name, read_study
from xling.report.figures.training import (
    emergence,
    loss_records,
    model_figure,
    overview,
    shares,
    structures,
    thinned,
    update_ticks,
)

MODELS = ("en-fr.default.s1", "en-fr.sep-emb.s1", "en-ru.default.s1", "en.mono.s1", "en2.mono.s1")
Trained = dict[ModelName, Metrics]
SETTING = study()["records"][0]


def read(folder: Path, **changes: Any) -> Study:
    """Return the made-up study with some of it changed."""
    (folder / "study.json").write_text(json.dumps(study() | changes), encoding="utf-8")
    return read_study(folder / "study.json")


@pytest.fixture
def known(tmp_path: Path) -> Study:
    return read(tmp_path)


@pytest.fixture
def trained(tmp_path: Path) -> Trained:
    for name in MODELS:
        write_model(tmp_path, name)
    return {ModelName.of(name): read_metrics(tmp_path / name / "metrics.jsonl") for name in MODELS}


def panels(figure: Any) -> dict[str, Any]:
    """Return the panels of a figure by title."""
    return {axes.get_title("left"): axes for axes in figure.axes}


def words(axes: Any) -> list[str]:
    """Return what is written in a drawing."""
    return [text.get_text() for text in axes.texts]


def test_metrics_are_read_whole(trained: Trained) -> None:
    found, lines = trained[ModelName.of(MODELS[0])], metrics("en", "fr")
    assert [step.update for step in found.steps] == [250, 500, 750, 1000]
    assert [step.lr for step in found.steps] == [line["lr"] for line in lines if line["kind"] == "train"]
    assert [point.losses for point in found.validations] == [x["loss"] for x in lines if x["kind"] == "validation"]
    assert (found.validations[-1].cka, found.validations[-1].sentences) == (lines[-1]["cka"], 500)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no validation in it: nothing to draw (has the model been trained?)"),
        ("{", "line 1: not JSON"),
        ('{"kind": "test"}', "line 1: expected an object whose 'kind' is train or validation"),
        ("[1]", "line 1: expected an object whose 'kind'"),
        ('{"kind": "train", "update": 3, "losses": {"en": 2.0}}', "line 1: 'lr' is missing"),
        ('{"kind": "train", "update": "x", "losses": {"en": 2.0}, "lr": 1}', "line 1: 'update' is 'x'"),
        ('{"kind": "validation", "update": 0, "loss": 3, "unigram_entropy": {}}', "line 1: 'loss' is 3"),
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
    assert thinned([1.0, 2.0, 3.0], [5.0, 6.0, 7.0], 3) == ([1.0, 2.0, 3.0], [5.0, 6.0, 7.0])
    assert thinned([], [], 3) == ([], [])


@pytest.mark.parametrize(("last", "text"), [(1250, "1000"), (10000, "10k"), (417000, "400k")])
def test_updates_are_written_short_and_none_beyond_the_last(last: int, text: str) -> None:
    with style.styled():
        axes = style.new_figure().subplots()
        update_ticks(axes, last, 4)
    assert [label.get_text() for label in axes.get_xticklabels()][-1] == text
    assert max(axes.get_xticks()) <= last


def test_a_models_figure_shows_losses_entropy_rate_and_structure(trained: Trained) -> None:
    found = trained[ModelName.of("en-fr.default.s1")]
    with style.styled():
        losses, rate, retrieval, cka = model_figure(found, "Default, en-fr", {}).axes
        mono = model_figure(trained[ModelName.of("en2.mono.s1")], "Monolingual", {"en2": "en'"}).axes
        untrained = metrics("fr")[0]
        point = Validation(0, untrained["loss"], untrained["unigram_entropy"])
        random = model_figure(Metrics((), (point,)), "Random, fr", {}).axes
    drawn = [list(line.get_ydata()) for line in losses.get_lines()]
    assert [point.losses["fr"] for point in found.validations] in drawn
    assert [5.0, 5.0] in drawn
    assert [step.losses["en"] for step in found.steps] in drawn
    assert list(rate.get_lines()[0].get_ydata()) == [step.lr for step in found.steps]
    assert len(cka.get_lines()) == 9
    assert len(retrieval.get_lines()) == 10  # nine layers, and chance
    assert list(retrieval.get_lines()[-1].get_ydata()) == [0.2, 0.2]
    assert len(mono) == 2  # a monolingual model has no structure to show
    assert any(text.startswith("en′ 3.00") for text in words(mono[0]))
    assert list(random[0].get_xticks()) == [0.0, 1.0]


def test_the_overview_has_losses_as_shares_of_the_entropy(trained: Trained, known: Study) -> None:
    with style.styled():
        figure = overview(trained, known)
    by_title = panels(figure)
    assert list(by_title) == ["Default", "Sep Emb", "Monolingual", ""]
    values = [value for _, value in shares(trained[ModelName.of("en-fr.sep-emb.s1")])]
    assert values[0] == pytest.approx(7.55 / 5)
    assert values in [list(line.get_ydata()) for line in by_title["Sep Emb"].get_lines()]
    assert set(words(by_title["Monolingual"])) == {"en", "en′"}
    colours = [line.get_color() for line in by_title["Sep Emb"].get_lines()]
    assert colours.count(style.pale(style.BLUE)) == 1  # Default of the same pair, and of no other
    assert style.pale(style.VERMILION) not in colours
    note = figure._supxlabel.get_text().replace("\n", " ")
    assert "en-fr: Wiki-CC, No anchors" in note
    assert "en-ru: Wiki-CC" in note
    records = loss_records(trained)
    assert len(records) == (3 * 2 + 2) * 5
    assert records[1].loss == metrics("en", "fr")[0]["loss"]["fr"]


def test_emergence_has_every_layer_and_draws_means(trained: Trained, known: Study) -> None:
    records = structures(trained)
    assert len(records) == 3 * 5 * 9
    last = [record for record in records if record.model == "en-fr.default.s1" and record.update == 1000]
    with style.styled():
        figure = emergence(records, known)
    heights = [list(line.get_ydata()) for line in figure.axes[0].get_lines()]
    mean = sum(record.retrieval for record in last) / 9
    assert any(found[-1] == pytest.approx(mean) for found in heights)
    assert [0.2, 0.2] in heights  # chance among 500 sentences


def test_anchors_are_drawn_by_setting_and_language(tmp_path: Path, known: Study) -> None:
    names = {"en-fr.default.s1": 0.4, "en-fr.sep-emb.s1": 0.0, "en-en2.sep-emb.s1": 0.0}
    for name, share in names.items():
        write_model(tmp_path, name, share)
    records = [record for name in names for record in read_audit(tmp_path / name / "anchors.json", known)]
    assert {record.pair for record in records} == {"en-fr", "en-en'"}
    with style.styled():
        first, second = anchor_plot(records, known).axes
    assert (first.get_title("left"), second.get_title("left")) == ("en-en′", "en-fr")
    assert [bar.get_width() for bar in second.patches] == [40.0, 40.0, 0.0, 0.0]
    assert (words(first), words(second)) == (["not run", "0"], ["120", "0"])


def test_a_models_name_is_its_folders() -> None:
    name = model_name(Path("models/en-fr.sep-emb-l1-3.s2/metrics.jsonl"))
    assert name == ModelName(("en", "fr"), "sep-emb-l1-3", "s2")
    assert (str(name), name.language) == ("en-fr.sep-emb-l1-3.s2", "fr")


def test_figure1_draws_what_each_setting_shares(known: Study) -> None:
    with style.styled():
        drawn = figure1(known).axes
        whole = figure1(replace(known, settings=(replace(known.settings[-1], separate_layers=8),))).axes[0]
    by_name = {words(axes)[0]: words(axes) for axes in drawn}
    assert list(by_name) == [setting.label for setting in sharing()]
    for name, text, count in (
        ("Default", "embeddings", 1),
        ("Default", "layers 1-8", 1),
        ("Sep Emb", "embeddings", 2),
        ("Sep Emb", "softmax", 2),
        ("Sep Emb", "BPE merges: 40k/40k", 1),
        ("Sep L1-3", "layers 1-3", 2),
        ("Sep L1-3", "layers 4-8", 1),
        ("No anchors", "no anchors", 1),
        ("Wiki-CC", "Wiki (en), CC (other)", 1),
    ):
        assert by_name[name].count(text) == count, (name, text)
    assert words(whole).count("layers 1-8") == 2
    apart = {}
    for axes in drawn:
        left, right = (patch for patch in axes.patches if isinstance(patch, Ellipse))
        apart[words(axes)[0]] = right.get_center()[0] - left.get_center()[0] - left.get_width()
    assert apart["Extra anchors"] < apart["Default"] < 0 < apart["No anchors"] == apart["Sep Emb"]


def test_figure1_draws_shared_positions_on_separate_tokens(tmp_path: Path) -> None:
    config = embedded_config(settings={"sep-tokens": SEP_TOKENS}, study={"settings": ["sep-tokens"], "extra": []})
    (tmp_path / "study.json").write_text(json.dumps(drawn_study(WorkflowStudy(config))), encoding="utf-8")
    with style.styled():
        (panel,) = (axes for axes in figure1(read_study(tmp_path / "study.json")).axes if words(axes))
    assert [words(panel).count(name) for name in ("tokens", "softmax", "positions", "embeddings")] == [2, 2, 1, 0]
    heights = {text.get_text(): text.get_position()[1] for text in panel.texts}
    assert heights["no anchors"] < heights["tokens"] < heights["positions"] < heights["layers 1-8"]


@pytest.mark.parametrize("layers", [1, 8, 24])
def test_figure2_has_the_layers_of_the_study(tmp_path: Path, layers: int) -> None:
    known = read(tmp_path, layers=layers, records=[SETTING])
    with style.styled():
        (axes,) = figure2(known).axes
    assert len([patch for patch in axes.patches if isinstance(patch, Rectangle)]) == 2 * 2 * (layers + 2)
    assert words(axes).count(f"layer {layers}") == 2
    assert f"$W_{{{layers}}}$" in words(axes)
    assert "other encoder\n(en′, fr, de, ru, zh)" in words(axes)
    assert {one.last_layer for one in comparisons(known)} == {0, layers}


def test_the_description_comes_from_the_configuration_but_not_from_its_training(tmp_path: Path) -> None:
    config = embedded_config()
    described = drawn_study(WorkflowStudy(config))
    (tmp_path / "study.json").write_text(json.dumps(described), encoding="utf-8")
    known = read_study(tmp_path / "study.json")
    assert (known.layers, known.shown) == (config["model"]["layers"], {"en2": "en'"})
    by_name = {setting.name: setting for setting in known.settings}
    assert list(by_name) == config["study"]["settings"]
    wanted = {setting.name: replace(setting, merges="") for setting in sharing()}
    assert {name: replace(one, merges="") for name, one in by_name.items()} == {name: wanted[name] for name in by_name}
    assert by_name["default"].merges == str(config["bpe"]["joint_merges"])
    assert by_name["sep-emb"].merges == "/".join([str(config["bpe"]["language_merges"])] * 2)
    config["pretrain"]["lr"] = 0.5
    config["settings"]["sep-emb"]["train"] = {"lr": 0.1}
    assert drawn_study(WorkflowStudy(config)) == described
    shown = [merges({"bpe": {"joint_merges": number}}, "joint") for number in (80000, 900, 1500)]
    assert shown == ["80k", "900", "1500"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"layers": "eight"}, "'layers' is 'eight'"),
        ({"records": []}, "'records' is []"),
        ({"layers": 2}, "sep-l1-3 has 3 separate layers of 2"),
        ({"records": [SETTING, SETTING]}, "given twice: default"),
        ({"records": [SETTING | {"anchors": "some"}]}, "'records.0.anchors' is 'some'"),
        ({"records": [SETTING | {"embeddings": "positions"}]}, "(shared|separate|tokens)"),
        ({"records": [SETTING | {"colour": "red"}]}, "'records.0.colour' is 'red'"),
        ({"shown": []}, "'shown' is []"),
    ],
)
def test_a_wrong_description_is_named(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, **changes)
    assert "study.json" in str(caught.value)
    assert problem in str(caught.value)
    (tmp_path / "study.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match=r"study\.json: expected an object, found \[\]"):
        read_study(tmp_path / "study.json")
