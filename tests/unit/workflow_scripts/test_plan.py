"""What a plan says: costs from closed forms, chains against another implementation, planned against used."""

import json
import os
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx
import pytest
from embedded import DEMO, PAPER, ROOT, SEP_TOKENS, made
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.plan import table
from workflow_scripts.plan.__main__ import choose_rates, report
from workflow_scripts.plan.estimate import Estimator, cost, encoder_operations, operations, parameters
from workflow_scripts.plan.jobs import Cost, Job, dependencies, in_order, longest_chain
from workflow_scripts.plan.rates import fit, load_rates
from workflow_scripts.plan.sizes import Sizes
from workflow_scripts.plan.used import (
    attempts,
    benchmarked,
    covered,
    divided,
    gpu_spans,
    other_spans,
    unfinished,
    used_by,
)
from workflow_scripts.study import Study
from xling.core.errors import InputError
from xling.model.encoder import Encoder
from xling.pretrain.config import read_run
from xling.pretrain.record import useful_operations

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=8)


def job(number: int, rule: str = "pretrain", reads: str = "", makes: str = "", **more: Any) -> Job:
    """Return a job with files named in two texts."""
    wildcards = more.pop("wildcards", {})
    return Job(number, rule, wildcards, tuple(reads.split()), tuple(makes.split()), **more)


def estimator(described: Study, device: str = "h200") -> Estimator:
    """Return an estimator at committed rates."""
    rates = load_rates(device)
    return Estimator(described, rates, Sizes(described, rates))


def write(path: Path, value: Any) -> Path:
    """Write JSON and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


# The DAG


@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40), st.lists(st.integers(0, 50), min_size=12)
)
def test_the_longest_chain_is_that_of_another_implementation(edges: list[tuple[int, int]], weights: list[int]) -> None:
    forward = [(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]]
    jobs = [job(i, reads=" ".join(f"f{a}" for a, b in forward if b == i), makes=f"f{i}") for i in range(12)]
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(12))
    graph.add_weighted_edges_from((a, b, weights[b]) for a, b in forward)
    expected = max(weights[start] + max(_longest(graph, start).values()) for start in range(12))
    seconds, chain = longest_chain(jobs, {i: Cost(weights[i]) for i in range(12)})
    assert seconds == expected
    assert sum(weights[one.number] for one in chain) == expected
    assert all(one.number in dependencies(jobs)[after.number] for one, after in pairwise(chain))


def _longest(graph: networkx.DiGraph, start: int) -> dict[int, float]:
    """Return the greatest weight of a path from a node to each node it reaches."""
    found = {start: 0.0}
    for node in networkx.topological_sort(graph):
        for _, after, data in graph.out_edges(node, data=True):
            if node in found:
                found[after] = max(found.get(after, 0.0), found[node] + data["weight"])
    return found


def test_rules_come_after_what_they_read() -> None:
    jobs = [job(1, "all", "m1 m2"), job(2, "train", "s1", "m1"), job(3, "encode", "", "s1"), job(4, "train", "", "m2")]
    assert [one.rule for one in in_order(jobs)] == ["encode", "train", "train", "all"]


@pytest.mark.parametrize(
    ("resources", "gpus"),
    [
        ({}, 0),
        ({"gpu": 8, "nodes": 2}, 8),
        ({"gpu": 0, "gres": "gpu:a100:4", "nodes": 2}, 8),
        ({"gres": "gpu:2"}, 2),
        ({"gres": "gpu"}, 1),
        ({"gres": "license:3"}, 0),
    ],
)
def test_gpus_are_counted_in_either_syntax(resources: dict[str, Any], gpus: int) -> None:
    assert job(1, resources=resources).gpus == gpus


# Rates


@given(st.floats(1e-4, 1.0), st.floats(1e9, 1e15), st.floats(1e6, 1e12), st.floats(1.5, 100.0))
def test_two_points_on_a_line_give_the_line_back(step: float, speed: float, few: float, ratio: float) -> None:
    points = [(amount, step + amount / speed) for amount in (few * ratio, few)]
    if points[0][1] - points[1][1] < 1e-6 * step:
        return  # nothing to tell the slope from
    found = fit(points[0], points[1])
    assert found == (pytest.approx(step, rel=1e-3), pytest.approx(speed, rel=1e-3))


def test_a_device_that_is_as_fast_on_little_has_no_step() -> None:
    assert fit((1e9, 1.0), (4e9, 2.0)) == (pytest.approx(2 / 3), pytest.approx(3e9))
    assert fit((1e9, 1.0), (4e9, 5.0)) == (0.0, pytest.approx(8e8))


def test_the_h200s_rates_are_those_of_the_committed_benchmark() -> None:
    bench = json.loads((ROOT / "bench/results/pretrain-h200.json").read_text())
    small = {"shape": {"layers": 8, "width": 256, "feedforward": 1024}, "pretrain": {"length": 128, "mask_rate": 0.15}}
    paper = (24576 * bench["operations_per_token"], 24576 / bench["settings"]["Default"])
    step, speed = fit(paper, (8192 * operations(small, 16000), 8192 / bench["small"]))
    rates = load_rates("h200")
    assert rates("device.step") == pytest.approx(step, rel=0.01)
    assert rates("device.operations_per_second") == pytest.approx(speed, rel=0.01)
    csls = json.loads((ROOT / "bench/results/csls-h200.json").read_text())
    similarity = 2 * csls["rows"] ** 2 * csls["width"] / csls["routes"]["xling"]["seconds"]
    assert rates("device.similarity") == pytest.approx(similarity, rel=0.02)


def test_every_rate_says_its_unit_and_source() -> None:
    rates = load_rates("cpu")
    entries = [*rates.stages.values(), *(entry for entry in rates.device.values() if isinstance(entry, dict))]
    assert len(entries) > 30
    assert all(entry["value"] >= 0 and entry["unit"] and entry["source"] for entry in entries)


def test_ones_own_rates_are_read_and_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file of rates \(did you mean 'h200'\?"):
        load_rates("h20")
    path = tmp_path / "rates.yaml"
    path.write_text("name: mine\ngpu: true\nstep: {value: 0.1, unit: s, source: here}\n")
    with pytest.raises(InputError, match="missing or wrong: operations_per_second, tuning_step"):
        load_rates(str(path))
    path.write_text(path.read_text() + "operations_per_second: {value: 1.0e+12}\ntuning_step: {value: 0.2}\n")
    rates = load_rates(str(path))
    assert (rates("device.step"), rates("device.tuning_step"), rates.gpu) == (0.1, 0.2, True)
    assert rates("device.start") == load_rates("h200")("device.start")


def test_the_embedded_study_is_planned_for_a_cpu_and_others_for_a_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (choose_rates("", DEMO).gpu, choose_rates("", PAPER).gpu) == (False, True)
    keys = ("step", "operations_per_second", "tuning_step")
    (tmp_path / "results").mkdir()
    (tmp_path / "results/rates.yaml").write_text(
        "name: mine\ngpu: false\n" + "".join(f"{k}: {{value: 1}}\n" for k in keys)
    )
    assert choose_rates("", PAPER).device["name"] == "mine"
    assert choose_rates("h200", PAPER).device["name"] == "one NVIDIA H200"


# Estimates


@pytest.mark.parametrize("setting", ["default", "sep-emb-l1-3", "sep-tokens"])
def test_operations_and_weights_are_those_of_the_model(setting: str, tmp_path: Path) -> None:
    described = made(settings={"sep-tokens": SEP_TOKENS}, study={"extra": ["en-fr.sep-tokens"]})
    run = described.run(f"en-fr.{setting}.s1")
    path = write(tmp_path / "run.json", run)
    config = read_run(path).model_config({"en": 512, "fr": 512}, path)  # tables are stored in multiples of 64 rows
    train = run["pretrain"]
    assert operations(run, 512) == useful_operations(config, train["length"], train["mask_rate"])
    tables = [parameter for parameter in Encoder(config, 1).parameters() if parameter.dim() > 1]
    assert parameters(run, 512) == sum(parameter.numel() for parameter in tables)


def test_pretraining_at_the_papers_scale_takes_a_day_of_an_h200() -> None:
    """81.9G tokens at the 906k a second of the committed benchmark."""
    plan = estimator(PAPER)
    one = cost(plan, job(1, makes="x", wildcards={"model": "en-fr.default.s1"}, resources={"gpu": 1}))
    assert one is not None
    tokens = 416667 * 8 * 24576
    assert one.gpu == pytest.approx(tokens / 906_418, rel=0.02)
    four = cost(plan, job(1, makes="x", wildcards={"model": "en-fr.default.s1"}, resources={"gpu": 4}))
    assert four is not None
    assert four.seconds == pytest.approx(one.seconds / 4, rel=0.01)
    assert four.gpu == pytest.approx(one.gpu, rel=0.01)
    assert one.disk == pytest.approx(4 * (80000 * 768 + 8 * 12 * 768**2 + 512 * 768))


def test_fine_tuning_counts_points_epochs_and_examples() -> None:
    plan = estimator(PAPER)
    wildcards = {"encoder": "en-fr.default.s1", "task": "xnli", "batch": "0"}
    small = cost(plan, job(1, "fine_tune", makes="x", wildcards=wildcards))
    large = cost(plan, job(1, "fine_tune", makes="x", wildcards=wildcards | {"batch": "17"}))
    assert small is not None
    assert large is not None
    steps = 200 * 20000 / 4
    tokens = 200 * 20000 * 46 * encoder_operations({"shape": PAPER.config["model"]}, 46)
    least = steps * plan.rates("device.tuning_step") + tokens / plan.rates("device.operations_per_second")
    assert least < small.gpu < 1.1 * least + 60
    assert large.gpu < 0.6 * small.gpu  # batches of 8 halve the steps


def test_on_a_cpu_there_are_no_gpu_hours() -> None:
    trained = cost(
        estimator(DEMO, "cpu"), job(1, makes="x", wildcards={"model": "en-fr.default.s1"}, resources={"gpu": 1})
    )
    assert trained is not None
    assert trained.gpu == 0
    assert trained.cpu == trained.seconds > 10


def test_web_text_is_trimmed_to_the_encyclopaedia() -> None:
    sizes = estimator(PAPER).sizes
    assert sizes.corpus("fr", "crawl") == sizes.corpus("fr", "wiki") == sizes.text("fr", "wiki")
    assert sizes.text("fr", "crawl") > sizes.text("fr", "wiki")
    assert sizes.tokens("zh", "wiki") < sizes.corpus("zh", "wiki") / 10


def test_downloads_leave_out_what_is_there_and_name_what_nobody_knows(tmp_path: Path) -> None:
    sizes = estimator(Study({**PAPER.config, "data": PAPER.config["data"] | {"root": str(tmp_path)}})).sizes
    assert sizes.download("panlex").known == 1272778403
    assert sizes.download("msra").known == 0
    assert not sizes.has_address("msra")
    before = sizes.download("wikipedia").known
    dump = tmp_path / "wikipedia/frwiki-20261001-pages-articles.xml.bz2"
    dump.parent.mkdir()
    dump.write_bytes(b"x" * 1000)
    assert sizes.download("wikipedia").known == pytest.approx(before - 7.0e9)
    assert sizes.raw(str(dump)) == 1000
    sizes.rates.downloads["wikipedia"].pop("de")
    assert sizes.download("wikipedia").unknown == ("wikipedia/dewiki-20261001-pages-articles.xml.bz2",)


def test_a_rule_that_nobody_knows_is_listed_and_never_free() -> None:
    plan = estimator(PAPER)
    assert cost(plan, job(1, "brew_tea", makes="x", resources={"runtime": 240})) is None
    assert cost(plan, job(1, "brew_tea", makes="x", resources={"runtime": 30})) == plan.cores(job(1), 0.0)
    assert cost(plan, job(1, "brew_tea", makes="x", resources={"runtime": 30, "gpu": 1})) is None
    lines = report(PAPER, plan.rates, [job(i, "brew_tea", makes=f"x{i}") for i in range(3)], [], "target tea")
    assert "not estimated: brew_tea, 3 jobs" in lines
    assert next(line for line in lines if line.startswith("brew_tea")).split()[1:4] == ["3", "not", "estimated"]


# What was used


def test_all_attempts_count_and_a_killed_one_up_to_its_last_metrics(tmp_path: Path) -> None:
    path = write(
        tmp_path / "m/provenance.json",
        {
            "attempts": [
                {"began": "2026-11-15T04:00:00Z", "device": "NVIDIA H200", "processes": 2, "seconds": 100.0},
                {"began": "2026-11-15T05:00:00Z", "device": "NVIDIA H200", "processes": 2},
                {"began": "2026-11-15T06:00:00Z", "device": "CPU x86_64", "processes": 1, "seconds": 7.0},
                {"began": "2026-11-15T07:00:00Z", "device": "CPU x86_64", "processes": 1},
            ]
        },
    )
    times = ["2026-11-15T04:01:00Z", "2026-11-15T05:10:00Z", "2026-11-15T05:20:00Z", "2026-11-15T06:00:05Z"]
    lines = [json.dumps({"time": time, "update": 1}) for time in times]
    path.with_name("metrics.jsonl").write_text("\n".join([*lines, '{"time": "2026-1']))
    assert attempts(path) == Cost(100.0 + 1200.0 + 7.0, 200.0 + 2400.0 + 7.0, 200.0 + 2400.0)
    assert unfinished(tmp_path.iterdir()) == attempts(path)
    trained = job(1, makes=f"{path} {path.with_name('metrics.jsonl')}")
    assert used_by(trained, on_gpu=True) == attempts(path)
    first = datetime(2026, 11, 15, 4, tzinfo=UTC).timestamp()
    on_gpus = [(first, first + 100), (first + 3600, first + 3600 + 1200)]  # the last two attempts had none
    assert gpu_spans(trained, on_gpu=True) == on_gpus


def test_a_benchmark_file_is_read_and_one_that_is_none_is_told(tmp_path: Path) -> None:
    path = tmp_path / "b.tsv"
    path.write_text("s\th:m:s\tmean_load\tcpu_time\n40.0\t0:00:40\t99\t38.5\n2.0\t0:00:02\tNA\tNA\n")
    assert benchmarked(path, 2, 1) == Cost(42.0, 84.0, 42.0)
    assert used_by(job(1, makes="x", benchmark=str(path), resources={"gpu": 1}), on_gpu=False) == Cost(42.0, 42.0, 0.0)
    whole = job(1, "collect_provenance", makes=str(write(tmp_path / "provenance.json", {"models": []})))
    assert used_by(job(1, makes="x"), on_gpu=True) is used_by(whole, on_gpu=True) is None
    os.utime(path, (1000.0, 1000.0))
    held = job(1, makes="x", benchmark=str(path), resources={"gpu": 1})
    assert gpu_spans(held, on_gpu=True) == [(958.0, 1000.0)]
    assert gpu_spans(held, on_gpu=False) == gpu_spans(job(1, makes="x"), on_gpu=True) == []
    path.write_text("something\nelse\n")
    with pytest.raises(InputError, match=r"b\.tsv: not a benchmark"):
        benchmarked(path, 1, 0)


def benchmark(path: Path, end: float, seconds: float) -> str:
    """Write a benchmark file of a job that ended at some time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"s\n{seconds}\n")
    os.utime(path, (end, end))
    return str(path)


@given(SPANS, SPANS)
def test_every_moment_is_divided_by_those_that_ran_then(
    own: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    ours, theirs = ([(float(start), float(start + seconds)) for start, seconds in some] for some in (own, others))

    def running(spans: list[tuple[float, float]], tick: int) -> int:
        return sum(start <= tick < end for start, end in spans)

    counts = [(running(ours, tick), running(theirs, tick)) for tick in range(40)]
    assert covered(ours) == sum(mine > 0 for mine, _ in counts)
    assert divided(ours, theirs) == pytest.approx(sum(mine / (mine + other) for mine, other in counts if mine))
    assert divided(ours, theirs) + divided(theirs, ours) == pytest.approx(covered([*ours, *theirs]))


def test_others_are_records_beside_those_of_the_jobs(tmp_path: Path) -> None:
    gpu = {"gpu": 1}
    file = benchmark(tmp_path / "fine_tune/a.s1.tsv", 1040, 40)
    first = job(1, "brew_tea", makes="x", wildcards={"model": "a.s1"}, resources=gpu, benchmark=file)
    benchmark(tmp_path / "fine_tune/a.s2.tsv", 1050, 20)
    benchmark(tmp_path / "encode_text/a.tsv", 1050, 20)
    assert other_spans([first], on_gpu=True) == [(1030.0, 1050.0)]
    assert other_spans([first], on_gpu=False) == []
    lines = report(PAPER, load_rates("h200"), [], [first], "everything")
    assert "jobs held GPUs for 40.0 s of wall time, 1.0 at once" in lines
    assert "other jobs of the study ran beside them; divided evenly, 35.0 s of it are theirs" in lines
    whole = job(1, "brew_tea", makes="x", resources=gpu, benchmark=benchmark(tmp_path / "brew_tea.tsv", 1040, 40))
    benchmark(tmp_path / "encode_text.tsv", 1050, 20)
    assert other_spans([whole], on_gpu=True) == []  # a rule with one job alone


def test_trainings_that_are_not_named_are_others_where_they_had_a_gpu(tmp_path: Path) -> None:
    for name, device in (("a.s1", "NVIDIA H200"), ("a.s2", "NVIDIA H200"), ("b.s1", "CPU")):
        attempt = {"began": "1970-01-01T00:01:00+00:00", "seconds": 30.0, "device": device}
        write(tmp_path / name / "provenance.json", {"attempts": [attempt]})
    makes = " ".join(str(tmp_path / "a.s1" / name) for name in ("provenance.json", "metrics.jsonl"))
    trained = job(1, makes=makes, wildcards={"model": "a.s1"}, resources={"gpu": 1})
    assert other_spans([trained], on_gpu=True) == [(60.0, 90.0)]


def test_planned_stands_beside_used_for_the_same_jobs_only() -> None:
    jobs = [job(i, "encode_text", makes=f"x{i}") for i in range(3)]
    lines = table.done(
        jobs, {0: Cost(60, 60), 1: Cost(60, 60), 2: Cost(60, 60)}, {0: Cost(30, 30), 1: None, 2: Cost(1, 1)}
    )
    assert lines[2].split() == ["encode_text", "3", "2", "-", "-", "2.0", "min", "31.0", "s"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "-"), (1.25, "1.2 s"), (90, "1.5 min"), (3600, "1.0 h"), (3.6e6, "1,000 h"), (4e8, "111,111 h")],
)
def test_durations_fit_their_unit(seconds: float, text: str) -> None:
    assert table.duration(seconds) == text
