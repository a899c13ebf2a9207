"""make run: presets are read before Snakemake starts, and an earlier run of the study tells how long this one takes."""

from pathlib import Path

import pytest
from embedded import ROOT

from workflow_scripts.watch import command
from xling.core.errors import XlingError


def test_targets_come_last_and_an_earlier_run_is_found(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(f"study: {{results: {tmp_path}, name: own}}", encoding="utf-8")
    start, rest = ["-m", "snakemake", "--logger", "progress"], ["-n", "--configfile", str(own), "--", "table1"]
    assert command(["table1"], [own], ["-n"]) == [*start, *rest]
    (tmp_path / "own").mkdir()
    (tmp_path / "own/provenance.json").touch()
    earlier = f"--logger-progress-earlier={tmp_path}/own/provenance.json"
    assert command(["table1"], [own], ["-n"]) == [*start, earlier, *rest]
    assert "earlier=" in str(command([], [ROOT / "presets/demo-full.yaml"], [])), "the committed run"


def test_a_preset_that_cannot_be_read_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_bytes("study: {name: a}".encode("utf-16"))
    with pytest.raises(XlingError, match=r"wrong.yaml, line 1: not UTF-8 \(save it as UTF-8"):
        command([], [tmp_path / "wrong.yaml"], [])
