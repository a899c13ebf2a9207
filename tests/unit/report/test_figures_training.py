"""Training curves, emergence, anchors and schematics: what is read, what is drawn, and what a bad file costs."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from embedded import SEP_TOKENS
from embedded import study as embedded_config
from made_up_study import metrics, sharing, study, write_model
from matplotlib.patches import Ellipse, Rectangle

from workflow_scripts.describe import drawn_study, merges
from workflow_scripts.study import Study as WorkflowStudy
from xling.core.errors import InputError
from xling.report import style
from xling.report.figures.bars import anchor_plot, read_audit
from xling.report.figures.schematic import comparisons, figure1, figure2
from xling.report.figures.study import Metrics, Study, Validation, read_metrics, read_study
from xling.report.figures.training import (
    emergence,
    loss_records,
    model_figure,
    overview,
    structures,
    thinned,
    update_ticks,
)

MODELS = ("en-fr.default.s1", "en-fr.sep-emb.s1", "en-ru.default.s1", "en.mono.s1", "en2.mono.s1")
Trained = dict[str, Metrics]
SETTING = study()["records"][0]


def read(folder: Path, value: Any) -> Study:
    """Return a description of a study by way of its file."""
    (folder / "study.json").write_text(json.dumps(value), encoding="utf-8")
    return read_study(folder / "study.json")


@pytest.fixture
def known(tmp_path: Path) -> Study:
    return read(tmp_path, study())


@pytest.fixture
def trained(tmp_path: Path) -> Trained:
    for name in MODELS:
        write_model(tmp_path, name)
    return {name: read_metrics(tmp_path / name / "metrics.jsonl") for name in MODELS}


def words(axes: Any) -> list[str]:
    """Return what is written in a drawing."""
    return [text.get_text() for text in axes.texts]


def heights(axes: Any) -> list[list[float]]:
    """Return the values of all lines of a panel."""
    return [list(line.get_ydata()) for line in axes.get_lines()]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no validation in it: nothing to draw (has the model been trained?)"),
        ("{", "line 1: not JSON"),
        ('{"kind": "test"}', "line 1: expected an object whose 'kind' is train or validation"),
        ("[1]", "line 1: expected an object whose 'kind'"),
        ('{"kind": "train", "update": 3, "losses": {"en": 2.0}}', "line 1: lr: missing key"),
        (
            '{"kind": "validation", "update": 0, "loss": 3, "unigram_entropy": {}}',
            "line 1: loss: expected keys and values, found 3",
        ),
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


@pytest.mark.parametrize(
    ("last", "texts"),
    [(1250, ["0", "500", "1000"]), (12200, ["0", "5k", "10k"]), (417000, ["0", "200k", "400k"])],
)
def test_updates_are_written_short_alike_and_none_beyond_the_last(last: int, texts: list[str]) -> None:
    with style.styled():
        axes = style.new_figure().subplots()
        update_ticks(axes, last, 4)
    assert [label.get_text() for label in axes.get_xticklabels()] == texts
    assert max(axes.get_xticks()) <= last


def test_a_models_figure_shows_losses_entropy_rate_and_structure(trained: Trained) -> None:
    untrained = metrics("fr")[0]
    point = Validation(0, untrained["loss"], untrained["unigram_entropy"])
    with style.styled():
        losses, rate, retrieval, cka = model_figure(trained[MODELS[0]], "Default, en-fr", {}).axes
        mono = model_figure(trained["en2.mono.s1"], "Monolingual", {"en2": "en'"}).axes
        random = model_figure(Metrics((), (point,)), "Random, fr", {}).axes
    lines = metrics("en", "fr")
    steps, points = ([line for line in lines if line["kind"] == kind] for kind in ("train", "validation"))
    assert [point["loss"]["fr"] for point in points] in heights(losses)
    assert [5.0, 5.0] in heights(losses)
    assert [step["losses"]["en"] for step in steps] in heights(losses)
    assert heights(rate) == [[step["lr"] for step in steps]]
    assert heights(cka) == [[point["cka"][layer] for point in points] for layer in range(9)]
    assert [found[-1] for found in heights(retrieval)[:-1]] == pytest.approx(
        [100 * x for x in points[-1]["retrieval"]["en-fr"]]
    )
    assert heights(retrieval)[-1] == [0.2, 0.2]  # chance
    assert len(mono) == 2  # a monolingual model has no structure to show
    assert any(text.startswith("en′ 3.00") for text in words(mono[0]))
    assert list(random[0].get_xticks()) == [0.0, 1.0]


def test_the_overview_has_losses_as_shares_of_the_entropy(trained: Trained, known: Study) -> None:
    with style.styled():
        figure = overview(trained, known)
    panels = {axes.get_title("left"): axes for axes in figure.axes}
    assert list(panels) == ["Default", "Sep Emb", "Monolingual", ""]
    points = [line for line in metrics("en", "fr") if line["kind"] == "validation"]
    assert [sum(point["loss"].values()) / 10 for point in points] in heights(panels["Sep Emb"])  # each entropy is 5
    assert set(words(panels["Monolingual"])) == {"en", "en′"}
    colours = [line.get_color() for line in panels["Sep Emb"].get_lines()]
    assert colours.count(style.pale(style.BLUE)) == 1  # Default of the same pair, and of no other
    assert style.pale(style.VERMILION) not in colours
    note = figure._supxlabel.get_text().replace("\n", " ")
    assert "en-fr: Wiki-CC, No anchors" in note
    assert "en-ru: Wiki-CC" in note
    records = loss_records(trained)
    assert len(records) == (3 * 2 + 2) * 5
    assert records[1]["loss"] == metrics("en", "fr")[0]["loss"]["fr"]


def test_emergence_has_every_layer_and_draws_means(trained: Trained, known: Study) -> None:
    records = structures(trained)
    assert len(records) == 3 * 5 * 9
    last = [r["retrieval"] for r in records if (r["model"], r["update"]) == ("en-fr.default.s1", 1000)]
    with style.styled():
        found = heights(emergence(trained, known).axes[0])
    assert any(line[-1] == pytest.approx(sum(last) / 9) for line in found)
    assert [0.2, 0.2] in found  # chance among 500 sentences


def test_anchors_are_drawn_by_setting_and_language(tmp_path: Path, known: Study) -> None:
    names = {"en-fr.default.s1": 0.4, "en-fr.sep-emb.s1": 0.0, "en-en2.sep-emb.s1": 0.0}
    for name, share in names.items():
        write_model(tmp_path, name, share)
    records = [record for name in names for record in read_audit(tmp_path / name / "anchors.json", known)]
    with style.styled():
        first, second = anchor_plot(records, known).axes
    assert (first.get_title("left"), second.get_title("left")) == ("en-en′", "en-fr")
    assert [bar.get_width() for bar in second.patches] == [40.0, 40.0, 0.0, 0.0]
    assert (words(first), words(second)) == (["not run", "0"], ["120", "0"])


def test_figure1_draws_what_each_setting_shares(known: Study) -> None:
    whole = replace(known.settings[-1], label="Whole", separate_layers=8)
    with style.styled():
        drawn = figure1(replace(known, settings=(*known.settings, whole))).axes
    by_name = {words(axes)[0]: words(axes) for axes in drawn if words(axes)}
    assert list(by_name) == [*(setting.label for setting in sharing()), "Whole"]
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
        ("Whole", "layers 1-8", 2),
    ):
        assert by_name[name].count(text) == count, (name, text)
    apart = {}
    for axes in drawn[: len(by_name)]:
        left, right = (patch for patch in axes.patches if isinstance(patch, Ellipse))
        apart[words(axes)[0]] = right.get_center()[0] - left.get_center()[0] - left.get_width()
    assert apart["Extra anchors"] < apart["Default"] < 0 < apart["No anchors"] == apart["Sep Emb"]


def test_figure1_draws_shared_positions_on_separate_tokens(tmp_path: Path) -> None:
    config = embedded_config(settings={"sep-tokens": SEP_TOKENS}, study={"settings": ["sep-tokens"], "extra": []})
    with style.styled():
        (panel,) = figure1(read(tmp_path, drawn_study(WorkflowStudy(config)))).axes
    assert [words(panel).count(name) for name in ("tokens", "softmax", "positions", "embeddings")] == [2, 2, 1, 0]
    heights = {text.get_text(): text.get_position()[1] for text in panel.texts}
    assert heights["no anchors"] < heights["tokens"] < heights["positions"] < heights["layers 1-8"]


@pytest.mark.parametrize("layers", [1, 24])
def test_figure2_has_the_layers_of_the_study(tmp_path: Path, layers: int) -> None:
    known = read(tmp_path, study() | {"layers": layers, "records": [SETTING]})
    with style.styled():
        (axes,) = figure2(known).axes
    assert len([patch for patch in axes.patches if isinstance(patch, Rectangle)]) == 2 * 2 * (layers + 2)
    assert words(axes).count(f"layer {layers}") == 2
    assert {f"$W_{{{layers}}}$", "other encoder\n(en′, fr, de, ru, zh)"} <= set(words(axes))
    assert [one["last_layer"] for one in comparisons(known)] == [0, *[layers] * 4]


def test_the_description_comes_from_the_configuration_but_not_from_its_training(tmp_path: Path) -> None:
    config = embedded_config()
    described = drawn_study(WorkflowStudy(config))
    known = read(tmp_path, described)
    assert (known.layers, known.shown) == (config["model"]["layers"], {"en2": "en'"})
    found, wanted = ({one.name: asdict(one) for one in settings} for settings in (known.settings, sharing()))
    assert list(found) == config["study"]["settings"]
    joint, each = (str(config["bpe"][key]) for key in ("joint_merges", "language_merges"))
    for name, one in found.items():
        assert one == wanted[name] | {"merges": joint if wanted[name]["merges"] == "80k" else f"{each}/{each}"}
    config["pretrain"]["lr"] = 0.5
    config["settings"]["sep-emb"]["train"] = {"lr": 0.1}
    assert drawn_study(WorkflowStudy(config)) == described
    shown = [merges({"bpe": {"joint_merges": number}}, "joint") for number in (80000, 900, 1500)]
    assert shown == ["80k", "900", "1500"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (study() | {"layers": "eight"}, "layers: expected a whole number, found the text 'eight'"),
        (study() | {"records": []}, "records: expected at least 1 item"),
        (
            study() | {"records": [SETTING | {"anchors": "some"}]},
            "records[0].anchors: expected text like ^(all|none|extra)$, found 'some'",
        ),
        (study() | {"records": [SETTING | {"embeddings": "positions"}]}, "(shared|separate|tokens)"),
        (
            study() | {"records": [SETTING | {"colour": "red"}]},
            "records[0].colour: unknown key (known: anchors, domain, ",
        ),
        (study() | {"shown": []}, "shown: expected keys and values, found a list of 0"),
        ([], "(top level): expected keys and values, found a list of 0"),
    ],
)
def test_a_wrong_description_is_named(tmp_path: Path, value: Any, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, value)
    assert "study.json" in str(caught.value)
    assert problem in str(caught.value)
