"""The target `encoders`: published encoders on the sentences of a study."""

import json
from pathlib import Path
from typing import Any

import pytest
from dag import nothing_to_do, preset, small_study, snakemake
from tiny_models import made_up


def test_nothing_to_compare_is_told(tmp_path: Path) -> None:
    done = snakemake("-n", "encoders", "--configfile", preset(tmp_path))
    assert done.returncode != 0
    assert "config: encoders.compare: empty, so there is nothing to compare (see docs/share.md)" in done.stdout


def test_two_folders_are_compared_on_the_studys_sentences(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from tiny_hub import write_bert, write_xlm_roberta

    folders = {"bert-en": write_bert(tmp_path / "bert", made_up("en", 64))}
    folders["xlmr"] = write_xlm_roberta(tmp_path / "xlmr", made_up("fr", 64), width=20)
    models: dict[str, Any] = {n: {"folder": str(f), "languages": ["en", "fr"]} for n, f in folders.items()}
    compare = [["bert-en", "xlmr", "en-fr"], ["xlmr", "xlmr", "en-en"]]
    path = small_study(tmp_path, encoders={"models": models, "compare": compare})
    done = snakemake("--cores", "1", "encoders", "--configfile", path)
    assert done.returncode == 0, done.stderr[-3000:]
    results = tmp_path / "results" / "demo" / "encoders"
    two = json.loads((results / "bert-en+xlmr.en-fr" / "compare.json").read_text())
    assert (two["sentences"], two["looked_for"], len(two["layers"])) == (20, 10, 3)
    assert len(two["config"]) == 16
    same = json.loads((results / "xlmr+xlmr.en-en" / "compare.json").read_text())
    assert [row["cka"] for row in same["layers"]] == pytest.approx([1.0] * 4)
    assert {file.suffix for file in results.iterdir() if file.is_file()} == {".csv", ".pdf", ".png", ".svg"}
    assert nothing_to_do(snakemake("-n", "encoders", "--configfile", path))
