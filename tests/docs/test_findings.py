"""The table of docs/findings.md on how separate parameters begin is that of the committed scores."""

import csv
from pathlib import Path
from statistics import fmean, stdev

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/findings.md").read_text().split("## How separate parameters begin")[1].split("##")[0]
TABLE = [[cell.strip() for cell in line.strip("|").split("|")] for line in TEXT.splitlines() if line.startswith("|")]
STUDENT = {3: 4.303, 6: 2.571}  # the 97.5% quantile of Student's t for so many differences


def scores(setting, language):
    """Return the scores of a row, seed by seed."""
    with (ROOT / "results/controls/starts/figure3.csv").open(newline="") as handle:
        own = [row for row in csv.DictReader(handle) if (row["setting"], row["language"]) == (setting, language)]
    return [float(row["score"]) for row in sorted(own, key=lambda row: int(row["seed"]))]


def differences(setting, language, better, worse):
    """Return the difference between two ways to begin for each seed; the name of a setting alone means equal."""
    names = [setting if way == "equal" else f"{setting}, {way}" for way in (better, worse)]
    return [a - b for a, b in zip(*(scores(name, language) for name in names), strict=True)]


def with_interval(gains):
    mean, half = fmean(gains), STUDENT[len(gains)] * stdev(gains) / len(gains) ** 0.5
    return f"{mean:.1f} [{mean - half:.1f}, {mean + half:.1f}]"


@pytest.mark.parametrize(("column", "language"), [(1, "fr"), (2, "ru")])
def test_every_cell_is_what_the_models_scored(column, language):
    """Scores of three seeds, then differences between two ways to begin."""
    assert len(TABLE) == 2 + 8 + 4
    for row in TABLE[2:10]:
        assert row[column] == ", ".join(f"{score:.1f}" for score in scores(row[0], language))
    for row in TABLE[10:]:
        setting, ways = row[0].split(": ")
        assert row[column] == with_interval(differences(setting, language, *ways.split(" minus ")))


@pytest.mark.parametrize(("way", "kept"), [("", (".96", "1.07")), (", copies", (".84", ".92"))])
def test_the_share_that_is_kept(way, kept):
    """Of Default that begins in the same way, both raw, in French and in Russian."""
    shares = (fmean(scores(f"Sep Emb{way}", code)) / fmean(scores(f"Default{way}", code)) for code in ("fr", "ru"))
    assert tuple(f"{share:.2f}".lstrip("0") for share in shares) == kept
    assert f"Sep Emb keeps {kept[0]} in French and {kept[1]} in Russian" in TEXT


def test_the_gain_over_both_languages():
    gains = [gain for code in ("fr", "ru") for gain in differences("Sep Emb", code, "equal", "copies")]
    assert min(gains) > 0
    assert with_interval(gains) in " ".join(TEXT.split())
