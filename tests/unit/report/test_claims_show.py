"""What `make demo` ends with: every verdict on a line, and where the report is."""

import json
from pathlib import Path

import pytest
from report_files import verdicts

from xling.core.errors import run
from xling.report import published
from xling.report.claims.show import main, verdict_lines
from xling.report.records import Results


def test_every_claim_has_a_line_with_its_verdict() -> None:
    claims = verdicts(Results())
    lines = verdict_lines(claims)
    assert lines[0] == "The paper's claims in this run: 16 not run"
    assert [line.split()[0] for line in lines[1:]] == [claim["claim"] for claim in claims["claims"]]
    assert all("not run" in line for line in lines[1:])


def test_a_line_says_on_how_much_a_verdict_rests() -> None:
    cells = tuple(cell for cell in published.results().figure3 if cell.language == "fr")
    lines = verdict_lines(verdicts(Results(figure3=cells)))
    assert lines[0].startswith(
        "The paper's claims in this run: 6 supported (6 of them on fewer cells than the claim is about), "
    )
    assert lines[2].startswith("  1b  supported, only 2 of 6 cells ")
    whole = verdict_lines(verdicts())
    assert whole[2].startswith("  1b  supported, 6 of 6 cells ")
    assert "fewer" not in whole[0]


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
