"""The table of docs/findings.md on how separate parameters begin is that of the committed scores."""

import csv
from pathlib import Path
from statistics import fmean, stdev

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/findings.md").read_text().split("## Separate parameters: copies or apart")[1].split("##")[0]
TABLE = [[cell.strip() for cell in line.strip("|").split("|")] for line in TEXT.splitlines() if line.startswith("|")]
STUDENT = 4.303  # the 97.5% quantile of Student's t with two degrees of freedom


def scores(setting, language):
    """Return the scores of a row, seed by seed."""
    with (ROOT / "results/controls/starts/figure3.csv").open(newline="") as handle:
        own = [row for row in csv.DictReader(handle) if (row["setting"], row["language"]) == (setting, language)]
    return [float(row["score"]) for row in sorted(own, key=lambda row: int(row["seed"]))]


@pytest.mark.parametrize(("column", "language"), [(1, "fr"), (2, "ru")])
def test_every_cell_is_what_the_models_scored(column, language):
    """Scores of three seeds; a difference is that of the two rows above it, with its interval."""
    for number, row in enumerate(TABLE[2:], start=2):
        if row[0] != "difference":
            expected = ", ".join(f"{score:.1f}" for score in scores(row[0], language))
        else:
            copies, apart = scores(TABLE[number - 2][0], language), scores(TABLE[number - 1][0], language)
            gains = [a - b for a, b in zip(copies, apart, strict=True)]
            mean, half = fmean(gains), STUDENT * stdev(gains) / len(gains) ** 0.5
            expected = f"{mean:.1f} [{mean - half:.1f}, {mean + half:.1f}]"
        assert row[column] == expected


@pytest.mark.parametrize(("language", "kept"), [("fr", ".85"), ("ru", ".91")])
def test_the_share_that_is_kept(language, kept):
    """Sep Emb with copies against Default, both raw."""
    share = fmean(scores("Sep Emb", language)) / fmean(scores("Default", language))
    assert f"{share:.2f}".lstrip("0") == kept
    assert kept in TEXT
