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

from workflow_scripts.plan.__main__ import choose_rates, done, duration, report
from workflow_scripts.plan.estimate import Estimator, cost, manifest, operations, parameters
from workflow_scripts.plan.jobs import Cost, Job, by_rule, dependencies, longest_chain
from workflow_scripts.plan.rates import fit, load_rates
from workflow_scripts.plan.used import attempts, covered, gpu_spans, read_benchmark, unfinished, used_by
from workflow_scripts.study import Study
from xling.core.errors import InputError
from xling.model.encoder import Encoder
from xling.pretrain.config import read_run
from xling.pretrain.record import useful_operations


def job(number: int, rule: str = "pretrain", reads: str = "", makes: str = "", **more: Any) -> Job:
    """Return a job with files named in two texts."""
    wildcards = more.pop("wildcards", {})
    return Job(number, rule, wildcards, tuple(reads.split()), tuple(makes.split()), **more)


def estimator(described: Study, device: str = "h200") -> Estimator:
    """Return an estimator at committed rates."""
    return Estimator(described, load_rates(device))


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
    seconds, chain = longest_chain(jobs, dict(enumerate(map(float, weights))))
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
    assert {rule: len(some) for rule, some in by_rule(jobs).items()} == {"encode": 1, "train": 2, "all": 1}
    assert list(by_rule(jobs)) == ["encode", "train", "all"]


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
    small = operations({"layers": 8, "width": 256, "feedforward": 1024}, 128, 0.15 * 16000)
    paper = (24576 * bench["operations_per_token"], 24576 / bench["settings"]["Default"])
    step, speed = fit(paper, (8192 * small, 8192 / bench["small"]))
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
    ours = operations(run["shape"], train["length"], 512 * train["mask_rate"])
    assert ours == pytest.approx(useful_operations(config, train["length"], train["mask_rate"]))
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
    small, large = (made_from(PAPER, batch) for batch in (4, 8))
    steps = 9 * 200 * 20000 / 4
    tokens = 9 * 200 * 20000 * 46 * operations(PAPER.config["model"], 46)
    rates = estimator(PAPER).rates
    least = steps * rates("device.tuning_step") + tokens / rates("device.operations_per_second")
    assert least < small * rates("device.side_by_side") < 1.1 * least + 60
    assert large < 0.6 * small  # batches of 8 halve the steps


def made_from(one: Study, batch: int) -> float:
    """Return the GPU seconds of a model's inference at the paper's grid points with this batch."""
    xnli = one.config["tasks"]["xnli"]
    tasks = one.config["tasks"] | {"xnli": xnli | {"grid": xnli["grid"] | {"batch": [batch]}}}
    config = one.config | {"tasks": tasks, "study": one.config["study"] | {"tasks": ["xnli"]}}
    found = cost(estimator(Study(config)), job(1, "fine_tune", makes="x", wildcards={"encoder": "en-fr.default.s1"}))
    assert found is not None
    return found.gpu


def test_on_a_cpu_there_are_no_gpu_hours() -> None:
    trained = cost(
        estimator(DEMO, "cpu"), job(1, makes="x", wildcards={"model": "en-fr.default.s1"}, resources={"gpu": 1})
    )
    assert trained is not None
    assert trained.gpu == 0
    assert trained.cpu == trained.seconds > 10


def test_web_text_is_trimmed_to_the_encyclopaedia() -> None:
    sizes = estimator(PAPER)
    assert sizes.corpus("fr", "crawl") == sizes.corpus("fr", "wiki") == sizes.text("fr", "wiki")
    assert sizes.text("fr", "crawl") > sizes.text("fr", "wiki")
    assert sizes.tokens("zh", "wiki") < sizes.corpus("zh", "wiki") / 10


def test_shards_share_a_text_and_a_crawl_is_thinned_before_it_is_tokenised() -> None:
    plan, names = estimator(PAPER), {"language": "zh", "domain": "crawl"}
    assert plan.tokenised("zh", "crawl") == pytest.approx(1.3 * plan.text("zh", "wiki"))
    for rule in ("extract_text", "tokenise_text"):
        whole = cost(plan, job(1, rule, makes="x", wildcards=names))
        shards = [cost(plan, job(1, rule, makes="x", wildcards=names | {"shard": f".{k}-of-4"})) for k in (1, 4)]
        assert all([whole, *shards])
        assert shards[0].seconds - 3 == pytest.approx((whole.seconds - 3) / 4)  # beside the start of the program
        assert shards[1].seconds < 0.6 * whole.seconds  # what comes before the last shard is only unpacked


def test_downloads_leave_out_what_is_there_and_name_what_nobody_knows(tmp_path: Path) -> None:
    sizes = estimator(Study({**PAPER.config, "data": PAPER.config["data"] | {"root": str(tmp_path)}}))
    assert sizes.download("panlex") == (1272778403, [])
    assert sizes.download("msra")[0] == 0
    assert manifest()["msra"].ask
    before = sizes.download("wikipedia")[0]
    dump = tmp_path / "wikipedia/frwiki-20261001-pages-articles.xml.bz2"
    dump.parent.mkdir()
    dump.write_bytes(b"x" * 1000)
    assert sizes.download("wikipedia")[0] == pytest.approx(before - 7.0e9)
    assert sizes.raw(str(dump)) == 1000
    sizes.rates.downloads["wikipedia"].pop("de")
    assert sizes.download("wikipedia")[1] == ["wikipedia/dewiki-20261001-pages-articles.xml.bz2"]


def test_a_rule_that_nobody_knows_is_listed_and_never_free() -> None:
    plan = estimator(PAPER)
    assert cost(plan, job(1, "brew_tea", makes="x", resources={"runtime": 240})) is None
    assert cost(plan, job(1, "brew_tea", makes="x")) == plan.cores(job(1), 0.0)  # a local rule takes seconds
    tea = [job(i, "brew_tea", makes=f"x{i}", resources={"runtime": 240}) for i in range(3)]
    lines = report(PAPER, plan.rates, tea, [], "target tea")
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


def benchmark(path: Path, end: float, seconds: float) -> str:
    """Write a benchmark file of a job that ended at some time."""
    path.write_text(f"s\n{seconds}\n")
    os.utime(path, (end, end))
    return str(path)


def test_a_benchmark_file_is_read_and_one_that_is_none_is_told(tmp_path: Path) -> None:
    path = tmp_path / "b.tsv"
    path.write_text("s\th:m:s\tmax_rss\tcpu_time\n40.0\t0:00:40\t99\t38.5\n2.0\t0:00:02\tNA\tNA\n")
    assert read_benchmark(path) == {"wall": 42.0, "cpu": 38.5, "memory": 99.0}
    assert used_by(job(1, makes="x", benchmark=str(path), resources={"gpu": 1}), on_gpu=False) == Cost(42.0, 42.0, 0.0)
    whole = job(1, "collect_provenance", makes=str(write(tmp_path / "provenance.json", {"models": []})))
    assert used_by(job(1, makes="x"), on_gpu=True) is used_by(whole, on_gpu=True) is None
    held = job(1, makes="x", benchmark=benchmark(path, 1000.0, 42.0), resources={"gpu": 1})
    assert gpu_spans(held, on_gpu=True) == [(958.0, 1000.0)]
    assert gpu_spans(held, on_gpu=False) == gpu_spans(job(1, makes="x"), on_gpu=True) == []
    path.write_text("something\nelse\n")
    with pytest.raises(InputError, match=r"b\.tsv, line 1: not a benchmark"):
        read_benchmark(path)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=8))
def test_time_in_which_several_jobs_ran_counts_once(spans: list[tuple[int, int]]) -> None:
    ran = [(float(start), float(start + seconds)) for start, seconds in spans]
    assert covered(ran) == sum(any(start <= tick < end for start, end in ran) for tick in range(40))


def test_planned_stands_beside_used_for_the_same_jobs_only(tmp_path: Path) -> None:
    texts = {"language": "fr", "domain": "wiki"}
    files = [benchmark(tmp_path / f"{i}.tsv", 1000.0 + i, 30.0) if i else None for i in range(3)]
    jobs = [job(i, "split_corpus", makes=f"x{i}", wildcards=texts, benchmark=files[i]) for i in range(3)]
    plan = estimator(DEMO)
    each = cost(plan, jobs[0])
    assert each is not None
    assert done(plan, jobs)[4].split() == [
        "split_corpus",
        "3",
        "2",
        "-",
        "-",
        *duration(2 * each.cpu).split(),
        "1.0",
        "min",
    ]
    held = [
        job(i, "split_corpus", makes=f"x{i}", wildcards=texts, benchmark=files[1], resources={"gpu": 1}) for i in (1, 2)
    ]
    assert done(plan, held)[-1] == "jobs held GPUs for 30.0 s of wall time, 2.0 at once"


def test_durations_fit_their_unit() -> None:
    units = {0: "-", 1.25: "1.2 s", 90: "1.5 min", 3600: "1.0 h", 3.6e6: "1,000 h", 4e8: "111,111 h"}
    assert {seconds: duration(seconds) for seconds in units} == units
