"""What the real Snakefile runs for Figures 5 and 8."""

import os
import subprocess
import sys
from pathlib import Path

import yaml
from embedded import ROOT


def dry_run(folder: Path, *targets: str) -> str:
    """Return what a dry run of the embedded study in an empty folder says."""
    preset = folder / "preset.yaml"
    preset.write_text(yaml.safe_dump({"study": {"results": str(folder)}, "data": {"root": str(folder / "data")}}))
    command = [sys.executable, "-m", "snakemake", "--nolock", "-n", "--configfile", str(preset), "--", *targets]
    given = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def jobs(output: str) -> dict[str, int]:
    rows = [line.split() for line in output.split("Job stats:")[1].split("Reasons:")[0].splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}


def test_figures_5_and_8_bring_their_own_models_and_no_fine_tuning(tmp_path: Path) -> None:
    output = dry_run(tmp_path, "figure5", "figure8")
    counts = jobs(output)
    assert (counts["align_words"], counts["transfer_contextual"], counts["collect_contextual"]) == (3, 5 + 3, 1)
    assert counts["pretrain"] == 4 + 3  # en, fr, ru, zh alone; Default of three pairs
    assert not [rule for rule in counts if "tune" in rule or "nli" in rule]
    assert "tasks/nli" not in output
    assert "sep-emb" not in output
    assert "de.mono" not in output
