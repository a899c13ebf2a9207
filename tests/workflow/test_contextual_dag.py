"""What the real Snakefile runs for Figures 5 and 8."""

from pathlib import Path

from dag import dry_run, preset


def test_figures_5_and_8_bring_their_own_models_and_no_fine_tuning(tmp_path: Path) -> None:
    counts, said = dry_run("figure5", "figure8", "--configfile", preset(tmp_path))
    assert (counts["align_words"], counts["transfer_contextual"], counts["record_contextual"]) == (3, 5 + 3, 1)
    assert counts["pretrain"] == 4 + 3  # en, fr, ru, zh alone; Default of three pairs
    assert not [rule for rule in counts if "tune" in rule or "nli" in rule]
    assert "tasks/nli" not in said
    assert "sep-emb" not in said
    assert "de.mono" not in said
