"""The target `encoders` on the real DAG: published encoders need no training, and a model of the study only its own."""

import json
from pathlib import Path
from typing import Any

import pytest
from dag import dry_run, nothing_to_do, preset, small_study, snakemake
from tiny_models import made_up

PUBLISHED = {"bert": {"hub": "someone/bert", "languages": ["en"]}, "mbert": {"hub": "mbert", "languages": ["en", "fr"]}}


def jobs(folder: Path, *compare: list[str]) -> dict[str, int]:
    """Return the jobs of these comparisons when nothing is there yet."""
    path = preset(folder, encoders={"models": PUBLISHED, "compare": list(compare)})
    return dry_run("encoders", "--configfile", path)[0]


def test_published_encoders_need_no_training(tmp_path: Path) -> None:
    counts = jobs(tmp_path, ["bert", "mbert", "en-fr"], ["mbert", "mbert", "en-fr"])
    assert (counts["compare_published"], counts["draw_encoders"]) == (2, 1)
    assert not {"pretrain", "train_bpe", "represent_encoder", "tokenise_text"} & set(counts)


def test_a_model_of_the_study_is_trained_for_it(tmp_path: Path) -> None:
    counts = jobs(tmp_path, ["bert", "fr.mono.s1", "en-fr"])
    assert (counts["compare_published"], counts["pretrain"], counts["build_vocabulary"]) == (1, 1, 1)


def test_nothing_to_compare_is_told(tmp_path: Path) -> None:
    done = snakemake("-n", "encoders", "--configfile", preset(tmp_path))
    assert done.returncode != 0
    assert "config: encoders.compare: empty, so there is nothing to compare (see docs/share.md)" in done.stdout


def test_a_study_without_them_has_no_such_job(tmp_path: Path) -> None:
    path = preset(tmp_path, encoders={"models": PUBLISHED, "compare": [["bert", "mbert", "en-fr"]]})
    assert "compare_published" not in dry_run("--configfile", path)[0]


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
