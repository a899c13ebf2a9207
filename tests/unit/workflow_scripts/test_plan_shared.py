"""What jobs cost that shared a GPU with other jobs of their study."""

import json
import os
from pathlib import Path

import pytest
from embedded import ROOT
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.config import read_config
from workflow_scripts.plan.__main__ import report
from workflow_scripts.plan.jobs import Job
from workflow_scripts.plan.rates import load_rates
from workflow_scripts.plan.used import covered, divided, other_spans
from workflow_scripts.study import Study

PAPER = Study(read_config(ROOT / "config.yaml", ROOT / "presets" / "paper.yaml"))
SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=8)


def benchmark(path: Path, end: float, seconds: float) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"s\n{seconds}\n")
    os.utime(path, (end, end))
    return str(path)


def tuning(number: int, model: str, file: str) -> Job:
    return Job(number, "brew_tea", {"model": model}, (), (f"{model}.json",), 1, {"gpu": 1}, file)


@given(SPANS, SPANS)
def test_every_moment_is_divided_by_those_that_ran_then(
    own: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    ours, theirs = ([(float(start), float(start + seconds)) for start, seconds in some] for some in (own, others))

    def running(spans: list[tuple[float, float]], tick: int) -> int:
        return sum(start <= tick < end for start, end in spans)

    counts = [(running(ours, tick), running(theirs, tick)) for tick in range(40)]
    assert divided(ours, theirs) == pytest.approx(sum(mine / (mine + other) for mine, other in counts if mine))
    assert divided(ours, []) == pytest.approx(covered(ours))
    assert divided(ours, theirs) + divided(theirs, ours) == pytest.approx(covered([*ours, *theirs]))


def test_others_are_records_beside_those_of_the_jobs(tmp_path: Path) -> None:
    first = tuning(1, "a.s1", benchmark(tmp_path / "fine_tune/a.s1.tsv", 1040, 40))
    benchmark(tmp_path / "fine_tune/a.s2.tsv", 1050, 20)
    benchmark(tmp_path / "encode_text/a.tsv", 1050, 20)
    assert other_spans([first], on_gpu=True) == [(1030.0, 1050.0)]
    assert other_spans([first], on_gpu=False) == []
    lines = report(PAPER, load_rates("h200"), [], [first], "everything")
    assert "jobs held GPUs for 40.0 s of wall time, 1.0 at once" in lines
    assert "other jobs of the study ran beside them; divided evenly, 35.0 s of it are theirs" in lines


def test_the_benchmark_of_a_rule_with_one_job_has_no_others_beside_it(tmp_path: Path) -> None:
    whole = Job(1, "brew_tea", {}, (), ("x",), 1, {"gpu": 1}, benchmark(tmp_path / "brew_tea.tsv", 1040, 40))
    benchmark(tmp_path / "encode_text.tsv", 1050, 20)
    assert other_spans([whole], on_gpu=True) == []


def test_trainings_that_are_not_named_are_others_where_they_had_a_gpu(tmp_path: Path) -> None:
    for name, device in (("a.s1", "NVIDIA H200"), ("a.s2", "NVIDIA H200"), ("b.s1", "CPU")):
        (tmp_path / name).mkdir()
        attempt = {"began": "1970-01-01T00:01:00+00:00", "seconds": 30.0, "device": device}
        (tmp_path / name / "provenance.json").write_text(json.dumps({"attempts": [attempt]}))
    outputs = tuple(str(tmp_path / "a.s1" / name) for name in ("provenance.json", "metrics.jsonl"))
    job = Job(1, "pretrain", {"model": "a.s1"}, (), outputs, 1, {"gpu": 1}, "")
    assert other_spans([job], on_gpu=True) == [(60.0, 90.0)]
