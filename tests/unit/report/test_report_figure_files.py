"""Every command that draws: which files it writes, and the same bytes from any process."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from made_up_records import contextual, matrices, sentences, study, words_4a, words_4b, write_model

from xling.report.record_files import read_records, write_records

RECORDS = {
    "figure4a": words_4a()[:6],
    "figure4b": words_4b(2)[:14],
    "figure5": contextual(layers=2)[:12],
    "figure6": sentences(2)[:12],
    "figure8": contextual(("biMLM align", "biMLM"), 2)[:12],
    "cka_matrix": matrices(2)[:27],
}
MODELS = ("en-fr.default.s1", "en-fr.sep-emb.s1", "en-en2.sep-emb.s1", "fr.mono.s1")
CODE = "import json, sys\nfrom test_report_figure_files import draw\ndraw(json.loads(sys.argv[1]))"


def draw(commands: list[list[str]]) -> None:
    """Run several commands in this process."""
    for module, *arguments in commands:
        sys.argv = [module, *arguments]
        importlib.import_module(f"xling.report.{module}").main()


def commands(inputs: Path, out: Path) -> list[list[str]]:
    """Return every command that draws, on files of one folder."""
    models = [inputs / "models" / name for name in MODELS]
    metrics = [str(model / "metrics.jsonl") for model in models]
    audits = [str(model / "anchors.json") for model in models if (model / "anchors.json").is_file()]
    place = ["--out-dir", str(out)]
    from_study = ["--study", str(inputs / "study.json"), *place]
    return [
        *([name, "--records", str(inputs / f"{name}.csv"), *place] for name in RECORDS),
        ["schematic", *from_study],
        ["training", *from_study, "--metrics", *metrics],
        ["anchor_plot", *from_study, "--audits", *audits],
    ]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    for name, records in RECORDS.items():
        write_records(folder / f"{name}.csv", type(records[0]), records)
    settings = [known for known in study()["records"] if known["name"] in {"default", "sep-emb"}]
    (folder / "study.json").write_text(json.dumps(study() | {"records": settings}), encoding="utf-8")
    for model in MODELS:
        write_model(folder / "models", model)
    return folder


@pytest.fixture(scope="module")
def figures(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, arguments = tmp_path_factory.mktemp("figures"), sys.argv
    try:
        draw(commands(inputs, folder))
    finally:
        sys.argv = arguments
    return folder


def names(folder: Path) -> list[str]:
    """Return all files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_each_figure_has_three_pictures_and_its_numbers(figures: Path) -> None:
    whole = [*RECORDS, "figure1", "figure2", "training", "emergence", "anchors"]
    expected = [f"{name}.{suffix}" for name in whole for suffix in ("png", "pdf", "svg", "csv")]
    expected += [f"training/{model}.{suffix}" for model in MODELS for suffix in ("png", "svg")]
    assert names(figures) == sorted(expected)


@pytest.mark.parametrize("name", RECORDS)
def test_the_numbers_are_the_records(figures: Path, name: str) -> None:
    assert read_records(figures / f"{name}.csv", type(RECORDS[name][0])) == RECORDS[name]


def test_pictures_say_nothing_of_when_and_where(figures: Path) -> None:
    for path in figures.rglob("*.svg"):
        assert not re.search("<dc:date>|<text", path.read_text(encoding="utf-8"))
    for path in figures.rglob("*.pdf"):
        assert not re.search(rb"/CreationDate|/ModDate|/Producer", path.read_bytes())


def test_another_process_draws_the_same_bytes(inputs: Path, figures: Path, tmp_path: Path) -> None:
    rc, out = tmp_path / "matplotlibrc", tmp_path / "out"
    rc.write_text("font.size: 20\naxes.facecolor: black\n", encoding="utf-8")
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(commands(inputs, out))],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "7", "MATPLOTLIBRC": str(rc)},
    )
    assert done.returncode == 0, done.stderr
    assert names(out) == names(figures)
    assert [name for name in names(out) if (out / name).read_bytes() != (figures / name).read_bytes()] == []
