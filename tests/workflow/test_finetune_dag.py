"""Fine-tuning in the real Snakefile: what a cell needs, how often floors are made, how many jobs the paper has."""

from pathlib import Path

import pytest
from test_dag import job_counts, preset, snakemake

ALIGNMENT = {"represent_encoder", "align_words", "align_sentences", "record_alignment"}


def planned(folder: Path, *targets: str, **changes: object) -> tuple[dict[str, int], str]:
    """Return the jobs of a dry run by rule, and all that it said."""
    done = snakemake("-n", "--configfile", preset(folder, **changes), "--", *targets)
    assert done.returncode == 0, done.stdout + done.stderr
    return job_counts(done.stdout + done.stderr), done.stdout + done.stderr


def test_one_cell_needs_its_own_model_and_no_other(tmp_path: Path) -> None:
    cell = tmp_path / "results/demo/transfer/en-fr.no-anchors.s1/ner.json"
    counts, told = planned(tmp_path, str(cell))
    assert counts["fine_tune_together"] == counts["pretrain"] == counts["write_run"] == 1
    assert "models/en-fr.no-anchors.s1/model.safetensors" in told
    assert "untrained" not in told


def test_floors_need_no_training_and_are_once_per_pair_and_kind(tmp_path: Path) -> None:
    floor = tmp_path / "results/demo/transfer/en-ru.untrained-separate.s1/parsing.json"
    counts, _ = planned(tmp_path, str(floor))
    assert (counts["write_untrained"], counts["fine_tune_together"]) == (1, 1)
    assert "pretrain" not in counts


def test_figure_3_needs_the_models_of_table_1_alone(tmp_path: Path) -> None:
    counts, _ = planned(tmp_path, "figure3", study={"skip": [], "seeds": [1, 2]})
    assert counts["pretrain"] == 2 * 30
    assert counts["write_untrained"] == 12
    assert counts["fine_tune_together"] == 2 * 30 + 12
    assert counts["record_transfer"] == counts["figure3"] == 1
    assert not ALIGNMENT & set(counts)


@pytest.mark.slow
def test_the_papers_jobs_are_one_a_grid_point_and_few_enough(tmp_path: Path) -> None:
    path = preset(tmp_path)
    done = snakemake("-n", "--configfile", "presets/paper.yaml", path, "--", "all", "table1")
    assert done.returncode == 0, done.stderr
    counts = job_counts(done.stdout + done.stderr)
    assert counts["fine_tune"] == (30 + 12) * (18 + 6 + 6)
    assert counts["score_cell"] == (30 + 12) * 3
    assert counts["total"] < 4000
