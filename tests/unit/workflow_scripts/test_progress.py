"""Progress: one line per stage, a failed job by its own error line, and what was made."""

import io
import logging
import os
import re
import subprocess
import sys
from types import SimpleNamespace

from embedded import ROOT
from snakemake_interface_logger_plugins.common import LogEvent

from workflow_scripts import progress
from workflow_scripts.progress import LogHandler, products

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


def test_a_stage_is_shown_while_it_works_and_a_failed_job_may_start_again(monkeypatch):
    stream, clock = io.StringIO(), SimpleNamespace(now=0.0)
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    handler = LogHandler(SimpleNamespace(stdout=False, dryrun=False), None)

    def shown(now, event, **about):
        """Return what is on the terminal after an event, but for the lines above."""
        clock.now = now
        stream.seek(0)
        stream.truncate()
        level = logging.ERROR if event == LogEvent.JOB_ERROR else logging.INFO
        handler.emit(logging.makeLogRecord({"event": event, "levelno": level, "msg": "failed", **about}))
        return stream.getvalue().rpartition(progress.CLEAR_LINE)[2].splitlines()

    about = {"rule_name": "train_bpe", "input": [], "output": [], "log": []}
    counts = {"train_bpe": 2, "all": 1, "total": 3}
    assert shown(0.0, LogEvent.RUN_INFO, stats=counts) == ["2 jobs in 1 stage", "0 of 2 jobs, 0s"]
    shown(0.0, LogEvent.JOB_INFO, jobid=1, **about)
    assert shown(5.0, LogEvent.JOB_INFO, jobid=2, **about) == ["0 of 2 jobs, 5s (train bpe: 0 of 2, 5s)"]
    assert shown(6.0, LogEvent.JOB_ERROR, jobid=1, **about)[:-1] == ["failed"]
    assert shown(7.0, LogEvent.JOB_FINISHED, job_id=2) == ["1 of 2 jobs, 7s"]
    shown(9.0, LogEvent.JOB_INFO, jobid=1, **about)
    last = shown(125.0, LogEvent.JOB_FINISHED, job_id=1)
    assert last == ["train bpe: 2 of 2 in 2m05s", "2 of 2 jobs, 2m05s"]
    handler.close()


def run(folder, command):
    """Run a small workflow with the logger, not on a terminal."""
    (folder / "Snakefile").write_text(SNAKEFILE.format(command=command), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "workflow_scripts/plugins")])}
    line = [sys.executable, "-m", "snakemake", "--cores", "2", "--logger", "progress", "--show-failed-logs"]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_run_shows_warnings_and_a_line_a_stage_and_a_second_one_that_nothing_is_left(tmp_path):
    warn = "echo 2026-01-01T00:00:00Z WARNING de.txt: few letters >{log}; touch {output}"
    done = run(tmp_path, warn)
    assert done.returncode == 0, done.stderr
    # a summary comes now and then: not of interest here
    wanted = r"^(\d+ jobs in \d+ stages$|\w+ step: 3 of 3(?= in )|all done(?= in )|made:$|  \.: .*)"
    shown = re.findall(wanted, done.stderr, flags=re.MULTILINE)
    stages = ["6 jobs in 2 stages", "first step: 3 of 3", "second step: 3 of 3"]
    assert [*shown[:-1], len(shown[-1])] == [*stages, "all done", "made:", len("  .: 0.b, 1.b, 2.b")]
    assert done.stderr.splitlines().count("warning: de.txt: few letters") == 3
    assert "Nothing to be done" in run(tmp_path, warn).stderr


def test_a_failure_begins_with_the_jobs_own_error_line_and_is_shown_in_full(tmp_path):
    done = run(tmp_path, "echo 'error: de.txt: wrong' >{log}; echo after >>{log}; exit 3")
    first, _, rest = done.stderr.partition("Error in rule first_step")
    assert (done.returncode, "first step failed: error: de.txt: wrong\n" in first) == (1, True)
    assert [text for text in ("after", "Complete log(s)", "stopped after ") if text not in rest] == []
    assert "RuleException" not in done.stderr


def test_what_was_made_is_listed_by_folder_without_what_other_jobs_have_read():
    made = ["r/text/de.zst", *(f"r/models/en-de.s{n}/model.json" for n in range(5)), "r/tables/table1.md"]
    made += ["r/tables/table1.csv", "r/report.html"]
    shown = ["  r/models: 5 files", "  r/tables: table1.md, table1.csv", "  r: report.html"]
    assert products(made, {"r/text/de.zst", "r/tables/table1.md"}) == shown
    leaves = [f"r/{n}/leaf" for n in range(9)]
    assert products(leaves, set()) == [f"  r/{n}: leaf" for n in range(3, 9)]
