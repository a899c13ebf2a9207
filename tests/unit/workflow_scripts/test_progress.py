"""Progress: one line per stage, a failed job by its own error line, and what was made."""

import os
import re
import subprocess
import sys
from pathlib import Path

from embedded import ROOT

from workflow_scripts.progress import Board

SNAKEFILE = """
rule all:
    input: expand("{{i}}.b", i=range(3)),

rule first_step:
    output: "{{i}}.a",
    log: "{{i}}.log",
    shell: "{command}"

rule second_step:
    input: "{{i}}.a",
    output: "{{i}}.b",
    shell: "touch {{output}}"
"""


def test_a_stage_is_shown_while_it_works_and_a_failed_job_may_start_again() -> None:
    board = Board()
    assert board.plan({"train_bpe": 2, "all": 1, "total": 3}, now=0.0) == "2 jobs in 1 stage"
    board.start(1, "train_bpe", 0.0, [], [])
    board.start(2, "train_bpe", 5.0, [], [])
    assert board.lines(5.0) == ["train bpe: 0 of 2, 5s", "0 of 2 jobs, 5s"]
    del board.running[1]
    assert board.finish(2, now=7.0) == board.finish(1, now=7.0) == []
    assert board.lines(8.0) == ["1 of 2 jobs, 8s"]
    board.start(1, "train_bpe", 9.0, [], [])
    assert board.finish(1, now=125.0) == ["train bpe: 2 of 2 in 2m05s"]


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a small workflow with the logger, not on a terminal."""
    (folder / "Snakefile").write_text(SNAKEFILE.format(command=command), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "workflow_scripts/plugins")])}
    line = [sys.executable, "-m", "snakemake", "--cores", "2", "--logger", "progress", "--show-failed-logs"]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_run_shows_warnings_and_a_line_a_stage_and_a_second_one_that_nothing_is_left(tmp_path: Path) -> None:
    warn = "echo 2026-01-01T00:00:00Z WARNING de.txt: few letters >{log}; touch {output}"
    done = run(tmp_path, warn)
    assert done.returncode == 0, done.stderr
    # a summary comes now and then: not of interest here
    wanted = r"^(\d+ jobs in \d+ stages$|\w+ step: 3 of 3(?= in )|all done(?= in ))"
    shown = re.findall(wanted, done.stderr, flags=re.MULTILINE)
    assert shown == ["6 jobs in 2 stages", "first step: 3 of 3", "second step: 3 of 3", "all done"]
    assert done.stderr.splitlines().count("warning: de.txt: few letters") == 3
    assert "Nothing to be done" in run(tmp_path, warn).stderr


def test_a_failure_begins_with_the_jobs_own_error_line_and_is_shown_in_full(tmp_path: Path) -> None:
    done = run(tmp_path, "echo 'error: de.txt: wrong' >{log}; echo after >>{log}; exit 3")
    first, _, rest = done.stderr.partition("Error in rule first_step")
    assert (done.returncode, "first step failed: error: de.txt: wrong\n" in first) == (1, True)
    assert [text for text in ("after", "Complete log(s)", "stopped after ") if text not in rest] == []
    assert "RuleException" not in done.stderr


def test_what_was_made_is_listed_by_folder_without_what_other_jobs_have_read() -> None:
    board = Board()
    jobs = [([], ["r/text/de.zst"]), (["r/text/de.zst"], [f"r/models/en-de.s{n}/model.json" for n in range(5)])]
    jobs += [([], ["r/tables/table1.md", "r/tables/table1.csv"]), (["r/tables/table1.md"], ["r/report.html"])]
    for number, (inputs, outputs) in enumerate(jobs):
        board.start(number, "some", 0.0, inputs, outputs)
        board.finish(number, now=1.0)
    board.made += [f"r/{n}/leaf" for n in range(9)]
    assert board.products()[2:] == [f"  r/{n}: leaf" for n in range(3, 9)]
    del board.made[-9:]
    assert board.products() == ["  r/models: 5 files", "  r/tables: table1.md, table1.csv", "  r: report.html"]
