"""Training curves, emergence, anchors and schematics: what is read, what is drawn, and what a bad file costs."""

import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from embedded import SEP_TOKENS
from embedded import study as embedded_config
from made_up_study import metrics, sharing, study, write_model
from matplotlib.patches import Ellipse, Rectangle

from workflow_scripts.describe import drawn_study
from workflow_scripts.study import Study as WorkflowStudy
from xling.core.errors import XlingError
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
from xling.report.figures.updates import Point, families, points, transfer_by_updates
from xling.report.records import Cell

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


def test_a_models_figure_shows_losses_entropy_rate_and_structure_at_few_points(trained: Trained) -> None:
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
    xs, ys = thinned(list(range(1000)), [x % 7 for x in range(1000)], 100)
    assert (len(xs), sum(xs) / 100) == (100, pytest.approx(499.5))
    assert sum(ys) / 100 == pytest.approx(sum(x % 7 for x in range(1000)) / 1000)
    for last, texts in ((1250, ["0", "500", "1000"]), (12200, ["0", "5k", "10k"]), (417000, ["0", "200k", "400k"])):
        update_ticks(rate, last, 4)
        assert [label.get_text() for label in rate.get_xticklabels()] == texts


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


def test_figure1_draws_what_each_setting_shares(tmp_path: Path, known: Study) -> None:
    whole = replace(known.settings[-1], label="Whole", separate_layers=8)
    with style.styled():
        drawn = figure1(replace(known, settings=(*known.settings, whole))).axes
    by_name = {words(axes)[0]: words(axes) for axes in drawn if words(axes)}
    assert list(by_name) == [*(setting.label for setting in sharing()), "Whole"]
    for name, text, count in (
        ("Default", "embeddings", 1),
        ("Sep Emb", "embeddings", 2),
        ("Sep Emb", "softmax", 2),
        ("Sep Emb", "BPE merges: 40k/40k", 1),
        ("Sep L1-3", "layers 4-8", 1),
        ("No anchors", "no anchors", 1),
        ("Wiki-CC", "Wiki (en), CC (other)", 1),
        ("Whole", "layers 1-8", 2),
    ):
        assert by_name[name].count(text) == count, (name, text)
    config = embedded_config(settings={"sep-tokens": SEP_TOKENS}, study={"settings": ["sep-tokens"], "extra": []})
    with style.styled():
        (panel,) = figure1(read(tmp_path, drawn_study(WorkflowStudy(config)))).axes
    assert [words(panel).count(name) for name in ("tokens", "softmax", "positions", "embeddings")] == [2, 2, 1, 0]
    apart = {}
    for axes in drawn[: len(by_name)]:
        left, right = (patch for patch in axes.patches if isinstance(patch, Ellipse))
        apart[words(axes)[0]] = right.get_center()[0] - left.get_center()[0] - left.get_width()
    assert apart["Extra anchors"] < apart["Default"] < 0 < apart["No anchors"] == apart["Sep Emb"]


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


def test_transfer_by_updates_puts_lengths_of_one_setting_on_one_line(known: Study) -> None:
    default, sep = (own for own in known.settings if own.name in {"default", "sep-emb"})
    longer = [replace(default, name=f"x{n}", label=f"Default, {n}", updates=n) for n in (2000, 8000, 80000)]
    study = replace(
        known, settings=(replace(default, updates=1000), *longer, replace(sep, updates=1000)), pairs=("en-fr",)
    )
    assert {name: len(own) for name, own in families(study.settings).items()} == {"default": 4, "sep-emb": 1}
    scored = {"Default": 20.0, "Default, 2000": 30.0, "Default, 8000": 40.0, "Default, 80000": 45.0, "Sep Emb": 9.0}
    about: Any = {"task": "parsing", "language": "fr", "chance": 0.0}
    cells = [
        Cell(setting=name, seed=seed, score=value + seed, floor="Untrained", **about)
        for name, value in scored.items()
        for seed in (1, 2)
    ]
    cells += [Cell(setting="Untrained", seed=1, score=3.0, **about)]

    found = points(cells, study)
    expected = [(1, 0, 3.0), (1, 1000, 21.0), (1, 2000, 31.0), (1, 8000, 41.0), (1, 80000, 46.0)]
    expected += [
        (2, 1000, 22.0),
        (2, 2000, 32.0),
        (2, 8000, 42.0),
        (2, 80000, 47.0),
    ]  # no untrained encoder of this seed
    assert found == [Point("default", "parsing", "fr", *rest) for rest in expected]

    with style.styled():
        figure, shown = transfer_by_updates(cells, study)
        (axes,) = [axes for axes in figure.axes if axes.get_lines()]
        places = [list(line.get_xdata()) for line in axes.get_lines() if len(line.get_xdata()) > 1]
        ticks = dict(zip((text.get_text() for text in axes.get_xticklabels()), axes.get_xticks(), strict=True))
    assert shown == found
    assert [0, 1, 2, 4, pytest.approx(4 + math.log2(10))] in places  # doublings of the shortest
    assert ticks == {"0": 0, "80k": pytest.approx(4 + math.log2(10)), "8k": 4}  # 1k and 2k would touch 0
    with pytest.raises(XlingError, match="several numbers of updates"):
        transfer_by_updates(cells, known)
