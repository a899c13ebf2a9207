"""Fine-tuning in the real Snakefile: what a cell needs, how often floors are made."""

from pathlib import Path

from dag import dry_run, preset

ALIGNMENT = {"represent_encoder", "align_words", "align_sentences", "record_alignment"}


def test_one_cell_needs_its_own_model_and_no_other(tmp_path: Path) -> None:
    cell = tmp_path / "results/demo/transfer/en-fr.no-anchors.s1/ner.json"
    counts, told = dry_run(str(cell), "--configfile", preset(tmp_path))
    assert counts["fine_tune_together"] == counts["pretrain"] == counts["write_run"] == 1
    assert "models/en-fr.no-anchors.s1/model.safetensors" in told
    assert "untrained" not in told


def test_floors_need_no_training_and_are_once_per_pair_and_kind(tmp_path: Path) -> None:
    floor = tmp_path / "results/demo/transfer/en-ru.untrained-separate.s1/parsing.json"
    counts, _ = dry_run(str(floor), "--configfile", preset(tmp_path))
    assert (counts["write_untrained"], counts["fine_tune_together"]) == (1, 1)
    assert "pretrain" not in counts


def test_figure_3_needs_the_models_of_table_1_alone(tmp_path: Path) -> None:
    counts, _ = dry_run("figure3", "--configfile", preset(tmp_path, study={"skip": [], "seeds": [1, 2]}))
    assert counts["pretrain"] == 2 * 30
    assert counts["write_untrained"] == 12
    assert counts["fine_tune_together"] == 2 * 30 + 12
    assert counts["record_transfer"] == counts["figure3"] == 1
    assert not ALIGNMENT & set(counts)
