"""What `make demo` ends with: every verdict on a line, and where the report is."""

import json
from pathlib import Path

import pytest
from report_files import verdicts

from xling.core.errors import run
from xling.report.claims.show import main, verdict_lines
from xling.report.records import Results


def test_every_claim_has_a_line_with_its_verdict() -> None:
    claims = verdicts(Results())
    lines = verdict_lines(claims)
    assert lines[0] == "The paper's claims in this run: 16 not run"
    assert [line.split()[0] for line in lines[1:]] == [claim["claim"] for claim in claims["claims"]]
    assert all("not run" in line for line in lines[1:])


def test_it_ends_with_the_path_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "claims.json"
    path.write_text(json.dumps(verdicts()), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["show", "--claims", str(path), "--report", "out/report.html"])
    run(main)
    out = capsys.readouterr().out
    assert out.rstrip().splitlines()[-1] == "Report: out/report.html"
    assert "1a  supported" in out
