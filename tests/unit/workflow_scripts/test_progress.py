"""Progress: what is left is what the unfinished jobs will take, as measured here or as an earlier run took it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from embedded import ROOT

from workflow_scripts.progress import Board, duration, seconds_a_job

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


def test_a_stage_takes_as_long_as_its_jobs_have_taken() -> None:
    board = Board()
    assert board.plan({"train_bpe": 4, "all": 1, "total": 5}, now=0.0) == "4 jobs in 1 stage"
    board.start(1, "train_bpe", now=0.0)
    board.start(2, "train_bpe", now=0.0)
    assert board.lines(5.0) == ["train bpe: 0 of 4, 5s", "0 of 4 jobs, 5s"]
    assert board.finish(1, now=10.0) is None
    board.start(3, "train_bpe", now=10.0)
    # two running for 10 s and 0 s of 10, one waiting: 10 + 10 + 0 seconds of work, two at a time
    assert board.lines(10.0) == ["train bpe: 1 of 4, 10s, about 10s left", "1 of 4 jobs, 10s, about 10s left"]


def test_a_failed_job_may_start_again_and_the_last_one_ends_its_stage() -> None:
    board = Board()
    board.plan({"a": 1, "total": 1}, now=0.0)
    board.start(1, "a", now=0.0)
    board.fail(1)
    assert len(board.lines(1.0)) == 1
    board.start(1, "a", now=5.0)
    done = board.finish(1, now=7.0)
    assert done is not None
    assert (done.seconds, board.stage_line(done, 9.0)) == (2.0, "a: 1 of 1 in 7s")
    assert board.finish(99, now=5.0) is None


def test_an_earlier_run_tells_what_is_left_at_this_machines_pace() -> None:
    rows = [{"stage": "generate", "wall": 20.0, "jobs": 2}, {"stage": "b", "wall": 6.0, "jobs": 1}]
    board = Board(seconds_a_job({"stages": rows}))
    board.plan({"generate_en": 1, "b": 1, "total": 2}, now=0.0)
    assert board.lines(0.0) == ["0 of 2 jobs, 0s, about 16s left"]
    board.start(1, "generate_en", now=0.0)
    board.finish(1, now=20.0)  # twice as long as then
    assert board.lines(20.0) == ["1 of 2 jobs, 20s, about 12s left"]
    board.plan({"new": 1}, now=20.0)  # nothing is said about what cannot be known
    assert board.lines(20.0) == ["1 of 3 jobs, 20s"]


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0.4, 59.6, 125, 3700)] == ["0s", "1m00s", "2m05s", "1h01m"]


def run(folder: Path, command: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run a small workflow with the logger, not on a terminal."""
    (folder / "Snakefile").write_text(SNAKEFILE.format(command=command), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "workflow_scripts/plugins")])}
    line = [sys.executable, "-m", "snakemake", "--cores", "2", "--logger", "progress", "--show-failed-logs", *flags]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_run_shows_warnings_and_a_line_a_stage_and_a_second_one_that_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "earlier.json").write_text(json.dumps({"stages": []}), encoding="utf-8")
    warn = "echo 2026-01-01T00:00:00Z WARNING de.txt: few letters >{log}; touch {output}"
    done = run(tmp_path, warn, "--logger-progress-earlier", "earlier.json")
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
        board.start(number, "some", now=0.0, inputs=inputs, outputs=outputs)
        board.finish(number, now=1.0)
    board.made += [f"r/{n}/leaf" for n in range(9)]
    assert board.products()[2:] == [f"  r/{n}: leaf" for n in range(3, 9)]
    del board.made[-9:]
    assert board.products() == ["  r/models: 5 files", "  r/tables: table1.md, table1.csv", "  r: report.html"]
