"""The paper's study on the real DAG, from downloads to the report."""

import pytest
from test_dag import job_counts, snakemake


@pytest.mark.slow
def test_the_paper_preset_shows_the_full_study() -> None:
    done = snakemake("-n", "--quiet", "rules", "--configfile", "presets/paper.yaml")
    assert done.returncode == 0, done.stderr
    counts = job_counts(done.stdout + done.stderr)
    assert counts["pretrain"] == 38
    assert counts["fine_tune"] == (30 + 12) * (18 + 6 + 6)  # models of Table 1 and untrained floors, a job a point
    assert counts["represent_encoder"] == 6 + 5  # monolingual ones, and the bilingual ones of Figure 7
    once = ["translate_words", "retrieve_sentences", "compare_encoders", "table1", "figure3", "claims", "report_page"]
    assert {name: counts[name] for name in once} == dict.fromkeys(once, 1)
