"""Contextual transfer: a hidden rotation is undone, the encoder stays as it is; whole jobs, restarts, floors, wrong input."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from unit.finetune.toy_tasks import BIAFFINE, KINDS, in_language, run_killed, sentence, write_model, write_set

from xling.align.frozen import Fitted, Side, first_words, fit_map, read_sentences
from xling.align.mapping import apply_map, normalise
from xling.align.transfer_contextual import Plan, check_layers, choose_work, main, open_job, run_job
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import XlingError
from xling.core.io import read_json, write_json
from xling.core.records import read_record
from xling.core.seeds import numpy_rng
from xling.finetune.data import Speller
from xling.model import device
from xling.model.encoder import Encoder
from xling.model.files import load_encoder, weights_of

WIDTH, LONGEST, CPU = 16, 24, torch.device("cpu")
ROTATION = torch.from_numpy(np.linalg.qr(numpy_rng("rotation").normal(size=(WIDTH, WIDTH)))[0]).float()
OPTIONS: dict[str, Any] = {
    "layers": [0, 2], "task_layers": 1, "heads": 2, "feedforward": 32, "dropout": 0.1,
    "epochs": 2, "batch": 8, "lr": 1e-2, "warmup_share": 0.1,
}  # fmt: skip
SHORT = OPTIONS | {"layers": [1], "epochs": 2}


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("contextual"))


def make_plan(folder, model, *tasks, **changes):
    """Write parallel text, its links and task data, and return the plan of one bilingual encoder for both languages."""
    rng = np.random.default_rng(5)
    sentences = [sentence(rng)[0] for _ in range(60)]
    languages = {code: {"vocab": str(model[0]), "encoder": str(model[1])} for code in ("en", "fr")}
    for code, own in languages.items():
        own["parallel"] = str(folder / f"{code}.txt")
        Path(own["parallel"]).write_text("".join(" ".join(in_language(s, code)) + "\n" for s in sentences))
    links = folder / "links.txt"
    links.write_text("".join(" ".join(f"{i}-{i}" for i in range(len(s))) + "\n" for s in sentences))
    languages["fr"]["links"] = str(links)
    data = {}
    for task in tasks or ("ner",):
        sets = {"train": ("en", 90, 1), "dev": ("en", 20, 2), "en": ("en", 20, 3), "fr": ("fr", 20, 4)}
        made = {name: str(write_set(folder / f"{task}.{name}.jsonl", task, *about)) for name, about in sets.items()}
        data[f"{task}.toy"] = {"task": task, "test": {code: made.pop(code) for code in languages}} | made
    return {
        "name": "en-fr.toy.s1", "source": "en", "languages": languages, "untrained": False, "seed": 7, "data": data,
        "config": "abc", "ways": ["plain", "aligned"], "options": OPTIONS, "biaffine": BIAFFINE,
    } | changes  # fmt: skip


def command(folder, model, out, *tasks, **changes):
    """Write the inputs of a job and return its flags."""
    write_json(folder / f"{out}.plan", make_plan(folder, model, *tasks, **changes))
    files = {"--plan": f"{out}.plan", "--work-root": f"{out}.work", "--out": f"{out}.json"}
    return [*(str(part) for flag, name in files.items() for part in (flag, folder / name)), "--device", "cpu"]


class Rotated(Side):
    """A side whose every state is turned and scaled: another encoder of the same language."""

    def states(self, tokens, number, keep=None):
        return 3.0 * super().states(tokens, number, keep) @ ROTATION


def test_aligned_transfer_to_a_rotated_encoder_equals_english(toy, tmp_path):
    plan = make_plan(tmp_path, toy, "parsing", options=OPTIONS | {"layers": [2], "epochs": 4})
    job = open_job(read_record(Plan, plan, "plan"), CPU)
    english, ((name, (material, tests)),) = job.sides["en"], job.data.items()
    words = np.arange(first_words(english.sentences)[-1])
    turned = Rotated(english.encoder, 0, english.sentences, np.stack([words, words]))
    alike = {"en": tests["en"], "fr": (1, tests["en"][1])}  # "French" is English, read by the rotated encoder
    before = weights_of(english.encoder)
    job = replace(job, sides={"en": english, "fr": turned}, data={name: (material, alike)})
    plain, aligned = run_job(job, tmp_path)
    assert (plain["way"], aligned["way"]) == ("plain", "aligned")
    assert aligned["map_cosine"]["fr"] == pytest.approx(1.0, abs=1e-6)
    assert aligned["scores"]["fr"]["measures"] == aligned["scores"]["en"]["measures"]
    assert aligned["scores"]["en"]["score"] > 40  # there was something to transfer
    assert plain["scores"]["fr"]["score"] < plain["scores"]["en"]["score"] - 10  # and without the map it is lost
    assert all(torch.equal(weight, before[name]) for name, weight in weights_of(english.encoder).items())
    assert not any(parameter.requires_grad for parameter in english.encoder.parameters())


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_side_gives_the_states_of_all_analyses_and_never_drops_out(norm, toy):
    config = load_encoder(toy[1]).config
    other = Side(Encoder(replace(config, shape=replace(config.shape, norm=norm)), 3), 1, [])
    tokens = torch.tensor([[2, 7, 9, 2, 0], [2, 8, 2, 0, 0]])
    every = list(other.encoder.eval().layer_states(tokens, 1, tokens != 0))
    other.encoder.train()
    for number, expected in enumerate(every):
        torch.testing.assert_close(other.states(tokens, number, tokens != 0), expected, rtol=0, atol=0)


def test_a_view_normalises_and_maps():
    _, means = normalise(numpy_rng("view").normal(size=(50, WIDTH)) + 1)
    view = Fitted(means, ROTATION.double().numpy()).view(torch.device("cpu"))
    held_out = numpy_rng("held out").normal(size=(3, 4, WIDTH))
    mapped = apply_map(ROTATION.double().numpy(), normalise(held_out.reshape(-1, WIDTH), means)[0])
    expected = mapped.reshape(3, 4, WIDTH) * WIDTH**0.5
    np.testing.assert_allclose(view(torch.from_numpy(held_out).float()), expected, atol=1e-5)


def test_word_states_are_those_of_first_subwords_in_order(toy, tmp_path):
    path, expected = tmp_path / "long.txt", []
    path.write_text("tom sees the horse .\n" + "the river likes paris . " * 9 + "\nacme eats tom .\n")
    side = Side(load_encoder(toy[1]), 0, read_sentences(path, Speller(Vocabulary.load(toy[0]), "en", LONGEST)))
    assert len(side.sentences[1].windows) > 1
    for example in side.sentences:
        for row, place in zip(example.rows, example.places, strict=True):
            window = torch.from_numpy(example.windows[row].astype(np.int64))[None]
            expected.append(list(side.encoder.layer_states(window, 0))[1][0, place])
    np.testing.assert_allclose(side.word_states(1, LONGEST), torch.stack(expected), atol=1e-5)


def test_a_map_takes_linked_words_and_each_side_is_normalised_over_all_its_words():
    source = numpy_rng("source").normal(size=(400, WIDTH))
    source /= np.linalg.norm(source, axis=1, keepdims=True)
    target = numpy_rng("noise").normal(size=(400, WIDTH))
    rows = np.arange(300)
    target[rows + 100] = source[rows] @ ROTATION.numpy()  # word i is linked with word i + 100
    linked, wrong = (fit_map(source, target, np.stack([rows, others])) for others in (rows + 100, rows))
    assert linked.cosine > 0.99
    assert wrong.cosine < 0.6
    for fitted in (linked, wrong):
        np.testing.assert_array_equal(fitted.means, normalise(target)[1])


def test_a_job_tests_every_layer_task_and_way(toy, tmp_path, call):
    arguments = command(tmp_path, toy, "job", "ner", "pos", options=OPTIONS | {"epochs": 1})
    assert call(main, *arguments).code == 0
    result = read_json(tmp_path / "job.json")
    done = [(one["layer"], one["task"], one["way"]) for one in result["trainings"]]
    tasks, ways = ("ner", "pos"), ("plain", "aligned")
    assert done == [(layer, task, way) for layer in (0, 2) for task in tasks for way in ways]
    for one in result["trainings"]:
        assert set(one["scores"]) == {"en", "fr"}
        assert all(found["low"] <= found["score"] <= found["high"] for found in one["scores"].values())
        assert set(one["map_cosine"]) == ({"fr"} if one["way"] == "aligned" else set())
    assert len({one["map_cosine"].get("fr") for one in result["trainings"]}) == 3  # one per layer, or none
    assert (result["config"], result["source"], result["sentences"]) == ("abc", "en", 60)
    assert not list((tmp_path / "job.work").iterdir())  # or a forced rerun would find the old scores
    beside = command(tmp_path, toy, "beside", "ner", "pos", options=OPTIONS | {"epochs": 1})
    assert call(main, *beside, "--side-by-side", 3).code == 0
    assert read_json(tmp_path / "beside.json") == result  # runs that take turns do not change each other
    assert result["links"]["fr"] == sum(len(line.split()) for line in (tmp_path / "links.txt").read_text().splitlines())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_runs_on_streams_of_a_gpu_are_those_of_one_after_the_other(toy, tmp_path):
    plan = make_plan(tmp_path, toy, "ner", "pos", options=OPTIONS | {"loss": "per-word"})
    job = open_job(read_record(Plan, plan, "plan"), torch.device("cuda", 0))
    alone, beside = ([one["losses"] for one in run_job(job, tmp_path / str(count), count)] for count in (1, 3))
    for one, other in zip(alone, beside, strict=True):
        assert other == pytest.approx(one, rel=0.03)
    assert len(set(map(tuple, beside))) == len(beside) == 8  # and none is another's


def test_a_killed_job_goes_on_to_the_same_result(toy, tmp_path, call):
    assert call(main, *command(tmp_path, toy, "whole", options=SHORT)).code == 0
    broken = command(tmp_path, toy, "broken", options=SHORT)
    module = "xling.align.transfer_contextual"
    log = run_killed(broken, (2,), tmp_path / "broken.json", tmp_path / "log", module)  # within the second training
    assert "plain (1 of 2)" not in log  # the last attempt had only the second training left to do
    assert "epoch 1 of" not in log  # and of that only its last epoch
    assert read_json(tmp_path / "broken.json") == read_json(tmp_path / "whole.json")


def test_precision_decides_the_folder_and_widths_whether_there_is_a_map(toy, tmp_path, monkeypatch):
    plan, folders = read_record(Plan, make_plan(tmp_path, toy), "plan"), set()
    for kind, half in KINDS:  # a job goes on in no other precision than it began in
        monkeypatch.setattr(device, "half_type", lambda half=half: half)
        folders.add(choose_work(plan, tmp_path, torch.device(kind)))
    assert len(folders) == len(KINDS)
    shape = load_encoder(toy[1]).config.shape
    with pytest.raises(XlingError, match=r"same width .* the widths are \{'en': 16, 'fr': 32\}"):
        check_layers(plan.options, {"en": shape, "fr": replace(shape, width=32)})


def test_untrained_encoders_need_run_json_alone(toy, tmp_path, call):
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "run.json").write_text((toy[1] / "run.json").read_text())
    changes = {"options": SHORT, "ways": ["aligned"], "untrained": True}
    assert call(main, *command(tmp_path, (toy[0], bare), "floor", **changes)).code == 0
    assert read_json(tmp_path / "floor.json")["untrained"] is True
    found = call(main, *command(tmp_path, (toy[0], bare), "floor", **changes | {"untrained": False}))
    assert found.code == 2
    assert "model.safetensors: no such file" in found.error


ONE = {"encoder": "x", "vocab": "y", "parallel": "z"}
TESTED = {"x": {"task": "ner", "train": "a", "dev": "b", "test": {"ru": "c"}}}


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("links.txt", lambda lines: lines[:-1], "links.txt: 59 lines of links for 60 sentences"),
        ("links.txt", lambda lines: [*lines, "0-0"], "links.txt: more than 60 lines of links for 60 sentences"),
        ("links.txt", lambda lines: ["0-40", *lines[1:]], "links.txt, line 1: link 0-40, but the sentences have"),
        ("links.txt", lambda lines: ["0:0", *lines[1:]], "links.txt, line 1: '0:0' is not a link"),
        ("links.txt", lambda lines: ["" for _ in lines], "links.txt: no links at all"),
        ("fr.txt", lambda lines: lines[:-1], "links 60 sentences with 59"),
        ("fr.txt", lambda lines: [*lines[:2], "", *lines[3:]], "fr.txt, line 3: a blank line"),
        ("plan", {"options": OPTIONS | {"layers": [0, 9]}}, "no layer 9 in the encoder of en: its layers are 0 to 2"),
        ("plan", {"options": OPTIONS | {"heads": 3}}, "options.heads: the width 16 is not divisible by 3"),
        ("plan", {"languages": {"en": ONE}}, "job.plan: languages: expected en and at least one other"),
        ("plan", {"languages": {"en": ONE, "fr": ONE}}, "job.plan: languages.fr.links: missing key"),
        ("plan", {"data": TESTED}, "job.plan: data.x.test: ru not among languages"),
    ],
)
def test_wrong_files_and_plans_are_one_line(name, change, problem, toy, tmp_path, refused):
    arguments, path = command(tmp_path, toy, "job", **(change if name == "plan" else {})), tmp_path / name
    if name != "plan":
        path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))
    assert problem in refused(main, *arguments, out=tmp_path / "job.json")
