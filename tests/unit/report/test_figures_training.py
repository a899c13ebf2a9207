"""Training curves, emergence, anchors, schematics and scores by updates: every number where it belongs."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from embedded import SEP_TOKENS
from embedded import study as embedded_config
from figure_files import STUDY, metrics, write_model
from matplotlib.patches import Rectangle

from workflow_scripts.describe import drawn_study
from workflow_scripts.study import Study as WorkflowStudy
from xling.core.errors import XlingError
from xling.report import style
from xling.report.figures.bars import anchors
from xling.report.figures.schematic import figure1, figure2
from xling.report.figures.study import Metrics, read_metrics, read_study
from xling.report.figures.training import Point, emergence, model_figure, overview, thinned, update_ticks, updates
from xling.report.records import Cell

MODELS = ("en-fr.default.s1", "en-fr.sep-emb.s1", "en-ru.default.s1", "en.mono.s1", "en2.mono.s1")
VALIDATIONS = [line for line in metrics("en", "fr") if line["kind"] == "validation"]


def read(folder, value):
    """Return a description of a study by way of its file."""
    (folder / "study.json").write_text(json.dumps(value), encoding="utf-8")
    return read_study(folder / "study.json")


@pytest.fixture(autouse=True)
def _styled():
    with style.styled():
        yield


@pytest.fixture
def known(tmp_path):
    return read(tmp_path, STUDY)


@pytest.fixture
def trained(tmp_path):
    for name in MODELS:
        write_model(tmp_path, name)
    return {name: read_metrics(tmp_path / name / "metrics.jsonl") for name in MODELS}


def words(axes):
    return [text.get_text() for text in axes.texts]


def heights(axes):
    return [list(line.get_ydata()) for line in axes.get_lines()]


def test_a_models_figure_shows_losses_entropy_rate_and_structure(trained):
    losses, rate, retrieval, cka = model_figure(trained[MODELS[0]], "Default, en-fr", {}).axes
    mono = model_figure(trained["en2.mono.s1"], "Monolingual", {"en2": "en'"}).axes
    untrained = Metrics((), trained["en.mono.s1"].validations[:1])
    random = model_figure(untrained, "Random, en", {}).axes
    steps = [line for line in metrics("en", "fr") if line["kind"] == "train"]
    for line in ([at["loss"]["fr"] for at in VALIDATIONS], [5.0, 5.0], [step["losses"]["en"] for step in steps]):
        assert line in heights(losses)
    assert heights(rate) == [[step["lr"] for step in steps]]
    assert heights(cka) == [[at["cka"][layer] for at in VALIDATIONS] for layer in range(9)]
    *found, chance = heights(retrieval)
    assert [line[-1] for line in found] == pytest.approx([100 * x for x in VALIDATIONS[-1]["retrieval"]["en-fr"]])
    assert chance == [0.2, 0.2]
    assert len(mono) == 2  # a monolingual model has no structure to show
    assert any(text.startswith("en′ 3.00") for text in words(mono[0]))
    assert list(random[0].get_xticks()) == [0.0, 1.0]


def test_long_curves_are_thinned_and_ticks_are_round():
    xs, ys = thinned(list(range(1000)), [x % 7 for x in range(1000)], 100)
    assert (len(xs), sum(xs) / 100) == (100, pytest.approx(499.5))
    assert sum(ys) / 100 == pytest.approx(sum(x % 7 for x in range(1000)) / 1000)
    axes = style.new_figure().subplots()
    for last, texts in ((1250, ["0", "500", "1000"]), (12200, ["0", "5k", "10k"]), (417000, ["0", "200k", "400k"])):
        update_ticks(axes, last, 4)
        assert [label.get_text() for label in axes.get_xticklabels()] == texts


def test_the_overview_has_losses_as_shares_of_the_entropy(trained, known):
    figure, rows = overview(trained, known)
    panels = {axes.get_title("left"): axes for axes in figure.axes}
    assert list(panels) == ["Default", "Sep Emb", "Monolingual", ""]
    assert [sum(at["loss"].values()) / 10 for at in VALIDATIONS] in heights(panels["Sep Emb"])  # each entropy is 5
    assert set(words(panels["Monolingual"])) == {"en", "en′"}
    colours = [line.get_color() for line in panels["Sep Emb"].get_lines()]
    assert colours.count(style.pale(style.BLUE)) == 1  # Default of the same pair, and of no other
    assert style.pale(style.VERMILION) not in colours
    assert "en-fr: Wiki-CC, No anchors" in figure._supxlabel.get_text().replace("\n", " ")  # what was not run
    assert (len(rows), rows[1]["loss"]) == ((3 * 2 + 2) * 5, VALIDATIONS[0]["loss"]["fr"])


def test_emergence_has_every_layer_and_draws_means(trained, known):
    figure, rows = emergence(trained, known)
    found = heights(figure.axes[0])
    assert len(rows) == 3 * 5 * 9
    means = [100 * sum(at["retrieval"]["en-fr"]) / 9 for at in VALIDATIONS]
    assert pytest.approx(means) in found
    assert [0.2, 0.2] in found  # chance among 500 sentences


def test_anchors_are_drawn_by_setting_and_language(tmp_path, known):
    names = {"en-fr.default.s1": 0.4, "en-fr.sep-emb.s1": 0.0, "en-en2.sep-emb.s1": 0.0}
    for name, share in names.items():
        write_model(tmp_path, name, share)
    first, second = anchors(known, [tmp_path / name / "anchors.json" for name in names])[0].axes
    assert (first.get_title("left"), second.get_title("left")) == ("en-en′", "en-fr")
    assert [bar.get_width() for bar in second.patches] == [40.0, 40.0, 0.0, 0.0]
    assert (words(first), words(second)) == (["not run", "0"], ["120", "0"])


def test_figure1_draws_settings_of_ones_own(tmp_path):
    """The paper's ten settings are those of a reference run, whose figures are compared in test_figure_commands."""
    own = {"sep-tokens": SEP_TOKENS, "whole": {"label": "Whole", "like": "sep-l1-6", "separate": {"layers": 8}}}
    config = embedded_config(settings=own, study={"settings": [*own], "extra": []})
    described = drawn_study(WorkflowStudy(config))
    tokens, whole = figure1(read(tmp_path, described))[0].axes
    assert [words(tokens).count(name) for name in ("tokens", "softmax", "positions", "embeddings")] == [2, 2, 1, 0]
    assert [words(whole).count(name) for name in ("layers 1-8", "softmax", "embeddings")] == [2, 1, 1]
    config["pretrain"]["lr"] = 0.5
    assert drawn_study(WorkflowStudy(config)) == described  # training is no part of it


@pytest.mark.parametrize("layers", [1, 24])
def test_figure2_has_the_layers_of_the_study(known, layers):
    figure, table = figure2(replace(known, layers=layers))
    (axes,) = figure.axes
    assert len([patch for patch in axes.patches if isinstance(patch, Rectangle)]) == 2 * 2 * (layers + 2)
    assert words(axes).count(f"layer {layers}") == 2
    assert {f"$W_{{{layers}}}$", "other encoder\n(en′, fr, de, ru, zh)"} <= set(words(axes))
    assert list(table["last_layer"]) == [0, *[layers] * 4]


def test_transfer_by_updates_puts_lengths_of_one_setting_on_one_line(known):
    default, sep = (replace(own, updates=1000) for own in known.settings if own.name in {"default", "sep-emb"})
    longer = [replace(default, name=f"x{n}", label=f"Default, {n}", updates=n) for n in (2000, 8000, 80000)]
    study = replace(known, settings=(default, *longer, sep), pairs=("en-fr",))
    about: Any = {"task": "parsing", "language": "fr", "chance": 0.0}
    scored = dict(zip((own.label for own in study.settings), (20.0, 30.0, 40.0, 45.0, 9.0), strict=True))
    cells = [
        Cell(setting=name, seed=seed, score=value + seed, floor="Untrained", **about)
        for name, value in scored.items()
        for seed in (1, 2)
    ]
    cells += [Cell(setting="Untrained", seed=1, score=3.0, **about)]  # there is none of the second seed
    trained = [(seed, own.updates, scored[own.label] + seed) for seed in (1, 2) for own in (default, *longer)]
    figure, shown = updates(cells, study)
    (axes,) = [axes for axes in figure.axes if axes.get_lines()]
    places = [list(line.get_xdata()) for line in axes.get_lines() if len(line.get_xdata()) > 1]
    ticks = dict(zip((text.get_text() for text in axes.get_xticklabels()), axes.get_xticks(), strict=True))
    assert shown == [Point("default", "parsing", "fr", *rest) for rest in [(1, 0, 3.0), *trained]]
    assert [0, 1, 2, 4, pytest.approx(4 + math.log2(10))] in places  # doublings of the shortest
    assert ticks == {"0": 0, "80k": pytest.approx(4 + math.log2(10)), "8k": 4}  # 1k and 2k would touch 0
    with pytest.raises(XlingError, match="several numbers of updates"):
        updates(cells, known)
