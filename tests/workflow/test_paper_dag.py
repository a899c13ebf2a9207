"""The paper's study on the real DAG, from downloads to the report."""

from pathlib import Path

from dag import dry_run, preset


def test_the_paper_preset_shows_the_full_study_in_few_enough_jobs(tmp_path: Path) -> None:
    counts, _ = dry_run("--quiet", "rules", "--configfile", "presets/paper.yaml", preset(tmp_path))
    assert counts["pretrain"] == 38
    assert counts["fine_tune"] == (30 + 12) * (18 + 6 + 6)  # models of Table 1 and untrained floors, a job a point
    assert counts["score_cell"] == (30 + 12) * 3
    assert counts["total"] < 4000
    assert counts["represent_encoder"] == 6 + 5  # monolingual ones, and the bilingual ones of Figure 7
    once = ["translate_words", "retrieve_sentences", "compare_encoders", "table1", "claims", "page"]
    assert {name: counts[name] for name in once} == dict.fromkeys(once, 1)
