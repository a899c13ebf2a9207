"""What a plan says: costs from closed forms, chains against another implementation, planned against used."""

import json
import lzma
from itertools import pairwise, product
from typing import Any

import networkx
import pytest
from embedded import DEMO, PAPER, ROOT, SEP_TOKENS, made
from hypothesis import given
from hypothesis import strategies as st

from bench.calibrate import fit
from workflow_scripts.config import merge, read_config
from workflow_scripts.files import SPLITS, TASK_DATA
from workflow_scripts.plan.__main__ import by_rule, choose_rates, duration, planned_and_used, report
from workflow_scripts.plan.estimate import cost, operations, parameters
from workflow_scripts.plan.jobs import UNKNOWN, Cost, Job, attempts, longest_chain, read_benchmark, unfinished, used_by
from workflow_scripts.plan.sizes import Sizes, load_rates, manifest
from workflow_scripts.study import Study
from xling.core.errors import InputError
from xling.core.tasks import TASKS
from xling.model.encoder import Encoder
from xling.pretrain.config import read_run
from xling.pretrain.record import useful_operations


def job(number=1, rule="pretrain", needs=(), **more):
    return Job(number, rule, **{"outputs": ("x",), "needs": frozenset(needs), **more})


def estimated(study, device="h200", **about):
    return cost(Sizes(study, load_rates(device)), job(**about))


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40), st.lists(st.integers(0, 50), min_size=12)
)
def test_the_longest_chain_is_that_of_another_implementation(edges, weights):
    forward = [(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]]
    jobs = [job(i, needs=tuple(a for a, b in forward if b == i)) for i in range(12)]
    graph = networkx.DiGraph([*((a, b, {"weight": weights[b]}) for a, b in forward)])
    graph.add_weighted_edges_from((-1, i, weights[i]) for i in range(12))
    seconds, chain = longest_chain(jobs, dict(enumerate(map(float, weights))))
    assert seconds == networkx.dag_longest_path_length(graph) == sum(weights[one.number] for one in chain)
    assert all(one.number in after.needs for one, after in pairwise(chain))


def test_rules_come_after_what_they_read():
    jobs = [job(4, "train"), job(3, "encode"), job(2, "train", (3,)), job(1, "all", (2, 4))]
    rules = by_rule(jobs, [Cost(2.0), UNKNOWN, Cost(3.0), Cost()])
    assert list(rules.items()) == [("encode", [UNKNOWN]), ("train", [Cost(3.0), Cost(2.0)]), ("all", [Cost()])]


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
def test_gpus_are_counted_in_either_syntax(resources, gpus):
    assert job(resources=resources).gpus == gpus


def test_the_h200s_rates_are_those_of_the_committed_benchmark_and_every_rate_says_its_source():
    bench = json.loads((ROOT / "bench/results/pretrain-h200.json").read_text())
    small = operations({"layers": 8, "width": 256, "feedforward": 1024}, 128, 16000, 0.15)
    large = operations({"layers": 8, "width": 768, "feedforward": 3072}, 256, 80000, 0.15)
    paper = (24576 * large, 24576 / bench["updates_of_8_micro_batches"])
    rates = load_rates("h200")
    found = (rates("device.step"), rates("device.operations_per_second"))
    assert found == pytest.approx(fit(paper, (8192 * small, 8192 / bench["small"])), rel=0.01)
    assert fit((1e9, 1.0), (4e9, 5.0)) == (0.0, pytest.approx(8e8))  # as fast on little: no time for a step
    tuned = json.loads((ROOT / "bench/results/finetune-h200.json").read_text())["xnli"]
    compiled = {row["at_once"]: row for row in tuned if row["how"] == "streams, compiled"}
    pairs = 900 / (3 / 4 + 3 / 8)  # three grid points in batches of 4 and three in batches of 8
    work = 6 * pairs * 46 * operations({"layers": 8, "width": 768, "feedforward": 3072}, 46)
    alone = compiled[1]["steps"] * rates("device.tuning_step") + work / rates("device.operations_per_second")
    assert alone == pytest.approx(compiled[1]["seconds"], rel=0.01)
    assert rates("device.side_by_side") == pytest.approx(compiled[1]["seconds"] / compiled[6]["seconds"], rel=0.01)
    csls = json.loads((ROOT / "bench/results/csls-h200.json").read_text())
    similarity = 2 * csls["rows"] ** 2 * csls["width"] / csls["routes"]["xling"]["seconds"]
    assert rates("device.similarity") == pytest.approx(similarity, rel=0.02)
    entries = [*rates.stages.values(), *(entry for entry in rates.device.values() if isinstance(entry, dict))]
    assert len(entries) > 30
    assert {*TASKS, *map("_".join, product(TASK_DATA, SPLITS))} <= rates.stages.keys()
    assert all(entry["value"] >= 0 and entry["unit"] and entry["source"] for entry in entries)


def test_ones_own_rates_are_checked_and_come_before_those_that_fit_the_study(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for visible, fitting in (("0", (False, True)), ("", (False, False))):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert tuple(choose_rates("", study).device["gpu"] for study in (DEMO, PAPER)) == fitting
    with pytest.raises(InputError, match=r"no such file of rates \(did you mean 'h200'\?"):
        load_rates("h20")
    path = tmp_path / "results/rates.yaml"
    path.parent.mkdir()
    path.write_text("name: mine\ngpu: true\nstep: {value: 0.1, unit: s, source: here}\n")
    with pytest.raises(InputError, match="missing or wrong: operations_per_second, tuning_step"):
        load_rates(str(path))
    path.write_text(path.read_text() + "operations_per_second: {value: 1.0e+12}\ntuning_step: {value: 0.2}\n")
    rates = choose_rates("", DEMO)
    assert (rates.device["name"], rates("device.step"), rates("device.tuning_step")) == ("mine", 0.1, 0.2)
    assert rates("device.start") == load_rates("h200")("device.start")
    assert choose_rates("h200", PAPER).device["name"] == "one NVIDIA H200"


@pytest.mark.parametrize("setting", ["default", "sep-emb-l1-3", "sep-tokens"])
def test_operations_and_weights_are_those_of_the_model(setting, tmp_path):
    described = made(settings={"sep-tokens": SEP_TOKENS}, study={"extra": ["en-fr.sep-tokens"]})
    run = described.run(f"en-fr.{setting}.s1")
    path = write(tmp_path / "run.json", run)
    config = read_run(path).model_config({"en": 512, "fr": 512}, path)  # tables are stored in multiples of 64 rows
    train = run["pretrain"]
    ours = operations(run["shape"], train["length"], 512, train["mask_rate"])
    assert ours == pytest.approx(useful_operations(config, train["length"], train["mask_rate"]))
    tables = [parameter for parameter in Encoder(config, 1).parameters() if parameter.dim() > 1]
    assert parameters(run, 512) == sum(parameter.numel() for parameter in tables)


def test_pretraining_at_the_papers_scale_takes_a_day_of_an_h200():
    """81.9G tokens at the 985k a second of the committed benchmark, eight micro-batches per update as in the paper."""
    wildcards = {"model": "en-fr.default.s1"}
    one, four = (estimated(PAPER, wildcards=wildcards, resources={"gpu": gpus}) for gpus in (1, 4))
    assert one.gpu == pytest.approx(416667 * 8 * 24576 / 984_976, rel=0.02)
    assert (four.seconds, four.gpu) == pytest.approx((one.seconds / 4, one.gpu), rel=0.01)
    assert one.disk == pytest.approx(4 * (80000 * 768 + 8 * 12 * 768**2 + 512 * 768))


def test_fine_tuning_counts_points_epochs_and_examples():
    found = []
    for batch in (4, 8):
        xnli = PAPER.config["tasks"]["xnli"]
        tasks = {"tasks": {"xnli": {"grid": xnli["grid"] | {"batch": [batch]}}}, "study": {"tasks": ["xnli"]}}
        one = Study(merge(PAPER.config, tasks))
        found.append(estimated(one, rule="fine_tune", wildcards={"encoder": "en-fr.default.s1"}).gpu)
    rates, examples = load_rates("h200"), 9 * 200 * 20000
    tokens = examples * 46 * operations(PAPER.config["model"], 46)
    least = examples / 4 * rates("device.tuning_step") + tokens / rates("device.operations_per_second")
    assert least < found[0] * rates("device.side_by_side") < 1.1 * least + 60
    assert found[1] < 0.6 * found[0]  # batches of 8 halve the steps


def test_the_examples_of_a_file_that_is_there_are_counted(tmp_path):
    compressed = {"en": {"treebank": {"train": "en.conllu.xz"}}}
    study = Study(merge(PAPER.config, {"data": {"root": str(tmp_path)}, "languages": compressed}))
    sizes, texts = Sizes(study, load_rates("h200")), {}
    texts |= {
        "data.nli.train": "premise\thypo\tlabel\na\tb\tneutral\n",
        "data.nli.test": "id\tlanguage\n1\tfr\n2\tru\n3\tfr\n",
    }
    texts |= {"languages.en.treebank.train": "\n1\tA\n2\tB\n\n \n1\tA\n", "languages.en.ner.wikiann.dev": "en:a\tO\n"}
    for path, text in zip(study.files_at(*texts).values(), texts.values(), strict=True):
        raw = tmp_path / path
        raw.parent.mkdir(parents=True, exist_ok=True)
        raw.write_bytes(lzma.compress(text.encode()) if raw.suffix == ".xz" else text.encode())
    data = {task: study.task_data(task, "en-fr") for task in ("xnli", "parsing", "ner")}
    of = {(task, split): sizes.examples(data[task], task, split) for task in data for split in ("train", "dev", "test")}
    assert of == {
        ("xnli", "train"): 1, ("xnli", "dev"): 2490, ("xnli", "test"): 2,
        ("parsing", "train"): 2, ("parsing", "dev"): 2002, ("parsing", "test"): 2 * 2077,
        ("ner", "train"): 20000, ("ner", "dev"): 1, ("ner", "test"): 20000,
    }  # fmt: skip
    prepared = tmp_path / "en.ud.train.jsonl"
    prepared.write_text("{}\n{}\n{}\n")
    assert sizes.examples({"train": prepared}, "parsing", "train") == 3


def test_a_core_trains_the_embedded_study_in_the_time_of_its_reference_run_give_or_take_a_quarter():
    kept = json.loads((ROOT / "results/reference/demo-full/provenance.json").read_text())
    used = {row["stage"]: row["cpu"] / row["jobs"] for row in kept["stages"]}
    study = Study(read_config(ROOT / "config.yaml", ROOT / "presets/demo-full.yaml"))
    trained = estimated(study, "cpu", wildcards={"model": "en-fr.default.s1"}, resources={"gpu": 1})
    tuned = estimated(study, "cpu", rule="fine_tune", wildcards={"encoder": "en-fr.default.s1"})
    assert (trained.cpu, tuned.cpu) == pytest.approx((used["pretrain"], used["fine_tune"]), rel=0.25)
    assert (trained.gpu, trained.cpu) == (0, trained.seconds)


def test_shards_share_a_text_and_a_crawl_is_thinned_before_it_is_tokenised():
    sizes, names = Sizes(PAPER, load_rates("h200")), {"language": "zh", "domain": "crawl"}
    assert sizes.tokenised("zh", "crawl") == pytest.approx(1.3 * sizes.text("zh", "wiki"))
    for rule in ("extract_text", "tokenise_text"):
        shards = ("", ".1-of-4", ".4-of-4")
        costs = (estimated(PAPER, rule=rule, wildcards=names | {"shard": shard}) for shard in shards)
        whole, first, last = (one.seconds - load_rates("h200")("start") for one in costs)
        assert first == pytest.approx(whole / 4)
        assert last < 0.6 * whole  # what comes before the last shard is only unpacked


def test_downloads_leave_out_what_is_there_and_name_what_nobody_knows(tmp_path):
    sizes = Sizes(Study({**PAPER.config, "data": PAPER.config["data"] | {"root": str(tmp_path)}}), load_rates("h200"))
    assert sizes.download("panlex") == (sizes.raw(str(tmp_path / "panlex")), []) == (1272778403, [])
    assert (sizes.download("msra")[0], bool(manifest()["msra"].ask)) == (0, True)
    before, dump = sizes.download("wikipedia")[0], tmp_path / "wikipedia/frwiki-20261001-pages-articles.xml.bz2"
    assert sizes.raw(str(dump)) == 7.0e9
    dump.parent.mkdir()
    dump.write_bytes(b"x" * 1000)
    assert (sizes.download("wikipedia")[0], sizes.raw(str(dump))) == (pytest.approx(before - 7.0e9), 1000)
    sizes.rate.downloads["wikipedia"].pop("de")
    assert sizes.download("wikipedia")[1] == ["wikipedia/dewiki-20261001-pages-articles.xml.bz2"]


def test_a_rule_that_nobody_knows_is_listed_and_never_free():
    rates = load_rates("h200")
    tea = [job(i, "brew_tea", resources={"runtime": 240}) for i in range(3)]
    assert estimated(PAPER, rule="brew_tea") == Cost(rates("start"), rates("start"))  # a local rule takes no longer
    lines = report(PAPER, rates, tea, "target tea")
    assert "not estimated: brew_tea, 3 jobs" in lines
    assert lines[1].startswith("in all: 3 jobs; at best")
    assert next(line for line in lines if line.startswith("brew_tea")).split()[1:] == ["3", *"????"]
    shown = ["Assumptions:" in report(PAPER, rates, tea, "target tea", assumptions=asked) for asked in (False, True)]
    assert shown == [False, True]


def test_all_attempts_count_and_a_killed_one_up_to_its_last_metrics(tmp_path):
    gpu, cpu = {"device": "NVIDIA H200", "processes": 2}, {"device": "CPU x86_64", "processes": 1}
    told = [gpu | {"seconds": 100.0}, gpu, cpu | {"seconds": 7.0}, cpu]
    known = [one | {"began": f"2026-11-15T0{hour}:00:00Z"} for hour, one in enumerate(told, start=4)]
    path = write(tmp_path / "m/provenance.json", {"attempts": known})
    times = [f"2026-11-15T{time}Z" for time in ("04:01:00", "05:10:00", "05:20:00", "07:00:05")]
    metrics = path.with_name("metrics.jsonl")
    metrics.write_text("\n".join([*(json.dumps({"time": time}) for time in times), '{"time": "2026-1']))
    assert attempts(path) == [Cost(100.0, 200.0, 200.0), Cost(1200.0, 2400.0, 2400.0), Cost(7.0, 7.0), Cost(5.0, 5.0)]
    whole = Cost(1312.0, 2612.0, 2600.0)
    assert used_by([job(outputs=(str(path), str(metrics)))], gpus_here=False) == [unfinished(tmp_path)] == [whole]


def test_planned_stands_beside_used_for_the_same_jobs_only(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    file = tmp_path / "b.tsv"
    file.write_text("s\th:m:s\tmax_rss\tcpu_time\n28.0\t0:00:28\t99\t38.5\n2.0\t0:00:02\tNA\t-\n")
    assert read_benchmark(file) == {"wall": 30.0, "cpu": 38.5, "memory": 99.0}
    about: dict[str, Any] = {"rule": "split_corpus", "wildcards": {"language": "fr", "domain": "wiki"}}
    sizes, each = Sizes(DEMO, load_rates("h200")), estimated(DEMO, **about)
    some = [job(i, benchmark=str(file) if i else None, resources={"gpu": 1}, **about) for i in range(3)]
    head, _, _, row, whole = planned_and_used(sizes, some)
    assert head.endswith("(2 of 3 jobs):")
    wanted = ["2", "-", "1.0", "min", *duration(2 * each.cpu).split(), "1.0", "min"]
    assert row.split()[1:] == whole.split()[1:] == wanted
    # Beside a training that ran on a CPU, a job that would have taken a GPU had none, whatever is planned.
    told = {"attempts": [{"began": "2026-11-15T04:00:00Z", "device": "CPU x86_64", "seconds": 7.0}]}
    files = [write(tmp_path / "m/provenance.json", told), tmp_path / "m/metrics.jsonl"]
    training = job(9, wildcards={"model": "en.mono.s1"}, outputs=tuple(map(str, files)))
    planned = each.cpu + estimated(DEMO, wildcards={"model": "en.mono.s1"}).cpu
    wanted = ["-", *duration(planned).split(), "37.0", "s"]
    assert planned_and_used(sizes, [training, some[1]])[-1].split()[-5:] == wanted
    # The study has a provenance.json too, which is not that of a training.
    whole_study = job(rule="collect_provenance", outputs=(str(write(tmp_path / "provenance.json", {"models": []})),))
    assert "(0 of 2 jobs)" in planned_and_used(sizes, [some[0], whole_study])[0]
    file.write_text("something\nelse\n")
    with pytest.raises(InputError, match=r"b\.tsv, line 1: not a benchmark"):
        read_benchmark(file)
