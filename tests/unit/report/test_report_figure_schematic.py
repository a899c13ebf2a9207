"""Figures 1 and 2 follow the study's description, and the description follows its configuration."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from embedded import SEP_TOKENS
from embedded import study as embedded_config
from made_up_records import sharing, study
from matplotlib.patches import Ellipse, Rectangle

from workflow_scripts.describe import drawn_study, merges
from workflow_scripts.study import Study
from xling.core.errors import InputError
from xling.report import style
from xling.report.figure1 import figure1
from xling.report.figure2 import comparisons, figure2
from xling.report.study_file import StudyFile, read_study


def read(tmp_path: Path, **changes: Any) -> StudyFile:
    """Return the made-up study with some of it changed."""
    (tmp_path / "study.json").write_text(json.dumps(study() | changes), encoding="utf-8")
    return read_study(tmp_path / "study.json")


def words(axes: Any) -> list[str]:
    """Return what is written in a drawing."""
    return [text.get_text() for text in axes.texts]


def test_figure1_draws_what_each_setting_shares(tmp_path: Path) -> None:
    with style.styled():
        panels = figure1(read(tmp_path)).axes
    by_name = {words(axes)[0]: words(axes) for axes in panels}
    assert list(by_name) == [setting.label for setting in sharing()]
    assert by_name["Default"].count("embeddings") == 1
    assert by_name["Default"].count("layers 1-8") == 1
    assert by_name["Sep Emb"].count("embeddings") == by_name["Sep Emb"].count("softmax") == 2
    assert by_name["Sep L1-3"].count("layers 1-3") == 2
    assert by_name["Sep L1-3"].count("layers 4-8") == by_name["Sep L1-3"].count("softmax") == 1
    assert "no anchors" in by_name["No anchors"]
    assert "Wiki (en), CC (other)" in by_name["Wiki-CC"]
    assert "BPE merges: 40k/40k" in by_name["Sep Emb"]


def test_figure1_draws_shared_positions_on_separate_tokens(tmp_path: Path) -> None:
    config = embedded_config(settings={"sep-tokens": SEP_TOKENS}, study={"settings": ["sep-tokens"], "extra": []})
    (tmp_path / "study.json").write_text(json.dumps(drawn_study(Study(config))), encoding="utf-8")
    with style.styled():
        (panel,) = (axes for axes in figure1(read_study(tmp_path / "study.json")).axes if words(axes))
    assert words(panel).count("tokens") == words(panel).count("softmax") == 2
    assert words(panel).count("positions") == 1
    assert "embeddings" not in words(panel)
    heights = {text.get_text(): text.get_position()[1] for text in panel.texts}
    assert heights["no anchors"] < heights["tokens"] < heights["positions"] < heights["layers 1-8"]


def test_vocabularies_overlap_by_their_anchors(tmp_path: Path) -> None:
    with style.styled():
        panels = figure1(read(tmp_path)).axes
    apart = {}
    for axes in panels:
        left, right = (patch for patch in axes.patches if isinstance(patch, Ellipse))
        apart[words(axes)[0]] = right.get_center()[0] - left.get_center()[0] - left.get_width()
    assert apart["Extra anchors"] < apart["Default"] < 0 < apart["No anchors"] == apart["Sep Emb"]


def test_all_layers_may_be_separate(tmp_path: Path) -> None:
    known = read(tmp_path)
    whole = replace(known, settings=(replace(known.settings[-1], separate_layers=8),))
    with style.styled():
        panel = figure1(whole).axes[0]
    assert words(panel).count("layers 1-8") == 2


@pytest.mark.parametrize("layers", [1, 8, 24])
def test_figure2_has_the_layers_of_the_study(tmp_path: Path, layers: int) -> None:
    known = read(tmp_path, layers=layers, records=study()["records"][:1])
    with style.styled():
        (axes,) = figure2(known).axes
    assert len([patch for patch in axes.patches if isinstance(patch, Rectangle)]) == 2 * 2 * (layers + 2)
    assert words(axes).count(f"layer {layers}") == 2
    assert f"$W_{{{layers}}}$" in words(axes)
    assert "other encoder\n(en′, fr, de, ru, zh)" in words(axes)
    assert {one.last_layer for one in comparisons(known)} == {0, layers}


def test_the_description_comes_from_the_configuration(tmp_path: Path) -> None:
    config = embedded_config()
    (tmp_path / "study.json").write_text(json.dumps(drawn_study(Study(config))), encoding="utf-8")
    known = read_study(tmp_path / "study.json")
    assert known.layers == config["model"]["layers"]
    assert [setting.name for setting in known.settings] == config["study"]["settings"]
    assert known.shown == {"en2": "en'"}
    by_name = {setting.name: setting for setting in known.settings}
    wanted = {setting.name: setting for setting in sharing()}
    for name, setting in by_name.items():
        assert replace(setting, merges="") == replace(wanted[name], merges="")
    assert by_name["default"].merges == str(config["bpe"]["joint_merges"])
    assert by_name["sep-emb"].merges == "/".join([str(config["bpe"]["language_merges"])] * 2)


def test_training_settings_are_no_part_of_the_description() -> None:
    config = embedded_config()
    before = drawn_study(Study(config))
    config["pretrain"]["lr"] = 0.5
    config["settings"]["sep-emb"]["train"] = {"lr": 0.1}
    assert drawn_study(Study(config)) == before


@pytest.mark.parametrize(("number", "text"), [(80000, "80k"), (900, "900"), (1500, "1500"), (0, "0")])
def test_merges_are_written_as_in_table_1(number: int, text: str) -> None:
    config = embedded_config(bpe={"joint_merges": number, "language_merges": number})
    assert merges(config, "joint") == text
    assert merges(config, "per-language") == f"{text}/{text}"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"layers": "eight"}, "'layers' is missing or no int"),
        ({"records": []}, "no settings: nothing to draw"),
        ({"layers": 2}, "sep-l1-3 has 3 separate layers of 2"),
        ({"records": [study()["records"][0] | {"anchors": "some"}]}, "'anchors' is 'some' (one of: all, none, extra)"),
        (
            {"records": [study()["records"][0] | {"embeddings": "positions"}]},
            "'embeddings' is 'positions' (one of: shared, separate, tokens)",
        ),
        ({"shown": []}, "'shown' is missing or no dict"),
    ],
)
def test_a_wrong_description_is_named(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, **changes)
    assert "study.json" in str(caught.value)
    assert problem in str(caught.value)
