"""The figure of compared encoders: what `xling compare` wrote, all comparisons beside each other."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from xling.core.errors import InputError
from xling.report import style
from xling.report.encoder_curves import encoder_curves, main, read_comparison


def write(path: Path, depths: int, plain: bool = True) -> Path:
    rows = [
        {"left": i, "right": 2 * i, "cka": 0.5 + i / 100, "plain": i / 10 if plain else None, "mapped": 0.5 + i / 20}
        for i in range(depths)
    ]
    path.write_text(json.dumps({"layers": rows, "chance": 0.001, "config": "abc"}))
    return path


def curves(figure: Figure, panel: int) -> dict[str, list[float]]:
    return {
        line.get_color(): list(line.get_ydata()) for line in figure.axes[panel].lines if line.get_linestyle() == "-"
    }


def test_a_colour_is_the_same_comparison_in_both_panels(tmp_path: Path) -> None:
    records = read_comparison("a+b.en-fr", write(tmp_path / "a.json", 3))
    records += read_comparison("c+d.en-fr", write(tmp_path / "c.json", 5, plain=False))
    with style.styled():
        figure = encoder_curves(records)
        similar, found = curves(figure, 0), curves(figure, 1)
    assert list(similar) == list(found)
    assert list(similar.values()) == [[record.cka for record in records[:3]], [record.cka for record in records[3:]]]
    assert next(iter(found.values())) == pytest.approx([50.0, 55.0, 60.0])
    broken = [list(line.get_ydata()) for line in figure.axes[1].lines if line.get_linestyle() == "--"]
    assert broken == [pytest.approx([0.0, 10.0, 20.0]), pytest.approx([0.1, 0.1])]  # without a map, and chance
    told = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert {"a+b.en-fr", "c+d.en-fr", "chance"} <= told


def test_files_and_numbers(call: Callable[..., Any], tmp_path: Path) -> None:
    names = [f"n{number}={write(tmp_path / f'{number}.json', 3)}" for number in range(9)]  # more than there are colours
    flags = [part for name in names for part in ("--comparison", name)]
    done = call(main, *flags, "--out-dir", tmp_path / "out")
    assert done.code == 0, done.error
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".csv", ".pdf", ".png", ".svg"]
    with (tmp_path / "out" / "encoders.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 27
    assert rows[4] == {
        "comparison": "n1", "layer": "1", "right_layer": "2", "cka": "0.51", "plain": "10.0", "mapped": "55.00000000000001",
        "chance": "0.1",
    }  # fmt: skip


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(InputError, match=r"x\.json: no result of `xling compare`"):
        read_comparison("x", tmp_path / "x.json")
