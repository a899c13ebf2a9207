"""Contextual transfer: a hidden rotation is undone, the encoder stays as it is; whole jobs, restarts, floors, wrong input."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from toy_contextual import OPTIONS, command, toy_plan, write_data, write_parallel
from unit.finetune.toy_tasks import KINDS, run_killed, write_model

from xling.align.frozen import Fitted, Side, first_words, fit_map, read_sentences
from xling.align.mapping import apply_map, fit_normaliser
from xling.align.plan import Options
from xling.align.transfer_contextual import Job, Plan, check_layers, choose_work, main, parse_args, run_job
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import XlingError
from xling.core.io import read_json
from xling.core.records import read_record
from xling.core.seeds import numpy_rng
from xling.finetune.data import Speller
from xling.finetune.tasks import read_material
from xling.model import device
from xling.model.encoder import Encoder
from xling.model.files import load_encoder, weights_of

Toy = tuple[Path, Path]  # a vocabulary and a bilingual encoder; parallel text is beside them
WIDTH, LONGEST = 16, 24
ROTATION = torch.from_numpy(np.linalg.qr(numpy_rng("rotation").normal(size=(WIDTH, WIDTH)))[0]).float()


class Rotated(Side):
    """A side whose every state is turned and scaled: another encoder of the same language."""

    def states(self, tokens: Tensor, number: int, keep: Tensor | None = None) -> Tensor:
        return 3.0 * super().states(tokens, number, keep) @ ROTATION


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    folder = tmp_path_factory.mktemp("contextual")
    write_parallel(folder)
    return write_model(folder)


def english(toy: Toy, path: Path | None = None) -> Side:
    """Return the toy encoder reading sentences in English."""
    speller = Speller(Vocabulary.load(toy[0]), "en", LONGEST)
    sentences = read_sentences(path or toy[0].parent / "en.txt", speller)
    return Side(load_encoder(toy[1]).requires_grad_(False), 0, sentences)


def rotated_job(toy: Toy, task: str, **changes: object) -> Job:
    """Return a job whose English test set is given to English and to the rotated side alike."""
    folder, side = toy[0].parent, english(toy)
    words = np.arange(first_words(side.sentences)[-1])
    turned = Rotated(side.encoder, 0, side.sentences, np.stack([words, words]))
    about = write_data(folder, task) | {"test": {"en": str(folder / f"{task}.test.en.jsonl")}}
    values = toy_plan(folder, toy, ("en", "turned"), {f"{task}.toy": about}, OPTIONS | changes)
    plan = read_record(Plan, values, "plan")
    ((name, files),), settings = plan.data.items(), replace(plan.options.settings, biaffine=plan.biaffine)
    material, tests = read_material(files, settings, {"en": Vocabulary.load(toy[0])}, {"en": 0}, "en", LONGEST, 7)
    data = {name: (material, {**tests, "turned": (1, tests["en"][1])})}
    return Job(plan, {"en": side, "turned": turned}, data, LONGEST)


def test_aligned_transfer_to_a_rotated_encoder_equals_english(toy: Toy, tmp_path: Path) -> None:
    job = rotated_job(toy, "parsing", layers=[2], epochs=4)
    encoder = job.sides["en"].encoder
    before = weights_of(encoder)
    plain, aligned = run_job(job, tmp_path)
    assert (plain["way"], aligned["way"]) == ("plain", "aligned")
    assert aligned["map_cosine"]["turned"] == pytest.approx(1.0, abs=1e-6)
    assert aligned["scores"]["turned"]["measures"] == aligned["scores"]["en"]["measures"]
    assert aligned["scores"]["en"]["score"] > 40  # there was something to transfer
    assert plain["scores"]["turned"]["score"] < plain["scores"]["en"]["score"] - 10  # and without the map it is lost
    for name, weight in weights_of(encoder).items():
        assert torch.equal(weight, before[name]), name
    assert not any(parameter.requires_grad for parameter in encoder.parameters())


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_side_gives_the_states_of_all_analyses_and_never_drops_out(norm: str, toy: Toy) -> None:
    config = load_encoder(toy[1]).config
    other = Side(Encoder(replace(config, shape=replace(config.shape, norm=norm)), 3), 1, [])
    tokens = torch.tensor([[2, 7, 9, 2, 0], [2, 8, 2, 0, 0]])
    every = list(other.encoder.eval().layer_states(tokens, 1, tokens != 0))
    other.encoder.train()
    for number, expected in enumerate(every):
        torch.testing.assert_close(other.states(tokens, number, tokens != 0), expected, rtol=0, atol=0)


def test_a_view_is_the_normaliser_and_the_map() -> None:
    normaliser, _ = fit_normaliser(numpy_rng("view").normal(size=(50, WIDTH)) + 1)
    view = Fitted(normaliser, ROTATION.double().numpy()).view(torch.device("cpu"))
    held_out = numpy_rng("held out").normal(size=(3, 4, WIDTH))
    mapped = apply_map(ROTATION.double().numpy(), normaliser(held_out.reshape(-1, WIDTH)))
    expected = mapped.reshape(3, 4, WIDTH) * WIDTH**0.5
    np.testing.assert_allclose(view(torch.from_numpy(held_out).float()), expected, atol=1e-5)


def test_word_states_are_those_of_first_subwords_in_order(toy: Toy, tmp_path: Path) -> None:
    path, expected = tmp_path / "long.txt", []
    path.write_text("tom sees the horse .\n" + "the river likes paris . " * 9 + "\nacme eats tom .\n")
    side = english(toy, path)
    assert len(side.sentences[1].windows) > 1
    for example in side.sentences:
        for row, place in zip(example.rows, example.places, strict=True):
            window = torch.from_numpy(example.windows[row].astype(np.int64))[None]
            expected.append(list(side.encoder.layer_states(window, 0))[1][0, place])
    np.testing.assert_allclose(side.word_states(1, LONGEST), torch.stack(expected), atol=1e-5)


def test_a_map_takes_linked_words_and_each_side_is_normalised_over_all_its_words() -> None:
    source = numpy_rng("source").normal(size=(400, WIDTH))
    source /= np.linalg.norm(source, axis=1, keepdims=True)
    target = numpy_rng("noise").normal(size=(400, WIDTH))
    rows = np.arange(300)
    target[rows + 100] = source[rows] @ ROTATION.numpy()  # word i is linked with word i + 100
    linked, wrong = (fit_map(source, target, np.stack([rows, others])) for others in (rows + 100, rows))
    assert linked.cosine > 0.99  # type: ignore[operator]
    assert wrong.cosine < 0.6  # type: ignore[operator]
    for fitted in (linked, wrong):
        np.testing.assert_array_equal(fitted.normaliser.means, fit_normaliser(target)[0].means)


def test_encoders_of_different_widths_have_no_map(toy: Toy) -> None:
    shape = load_encoder(toy[1]).config.shape
    with pytest.raises(XlingError, match=r"encoders of one width, not \{'en': 16, 'fr': 32\}"):
        check_layers(read_record(Options, OPTIONS, "options"), {"en": shape, "fr": replace(shape, width=32)})


Call = Callable[..., Any]
SHORT = OPTIONS | {"layers": [1], "epochs": 2}


def test_a_job_tests_every_layer_task_and_way(toy: Toy, tmp_path: Path, call: Call) -> None:
    arguments = command(tmp_path, toy, "job", ("ner", "pos"), options=OPTIONS | {"epochs": 1})
    assert call(main, *arguments).code == 0
    result = read_json(tmp_path / "job.json")
    done = [(one["layer"], one["task"], one["way"]) for one in result["trainings"]]
    tasks, ways = ("ner", "pos"), ("plain", "aligned")
    assert done == [(layer, task, way) for layer in (0, 2) for task in tasks for way in ways]
    for one in result["trainings"]:
        assert set(one["scores"]) == {"en", "fr"}
        assert all(found["low"] <= found["score"] <= found["high"] for found in one["scores"].values())
        assert set(one["map_cosine"]) == ({"fr"} if one["way"] == "aligned" else set())
    assert (
        len({one["map_cosine"].get("fr") for one in result["trainings"]}) == 3
    )  # a map for each of two layers, or none
    assert (result["config"], result["source"], result["sentences"]) == ("abc", "en", 60)
    assert not list((tmp_path / "job.work").iterdir())  # or a forced rerun would find the old scores
    assert result["links"]["fr"] == sum(len(line.split()) for line in (tmp_path / "links.txt").read_text().splitlines())


def test_a_killed_job_goes_on_to_the_same_result(toy: Toy, tmp_path: Path, call: Call) -> None:
    assert call(main, *command(tmp_path, toy, "whole", options=SHORT)).code == 0
    broken = command(tmp_path, toy, "broken", options=SHORT)
    module = "xling.align.transfer_contextual"
    log = run_killed(broken, (2,), tmp_path / "broken.json", tmp_path / "log", module)  # within the second training
    assert "plain (1 of 2)" not in log  # the last attempt had only the second training left to do
    assert "epoch 1 of" not in log  # and of that only its last epoch
    assert read_json(tmp_path / "broken.json") == read_json(tmp_path / "whole.json")


def test_a_job_goes_on_in_no_other_precision_than_it_began_in(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["run", *command(tmp_path, toy, "job")])
    args, folders = parse_args(), set()
    for kind, half in KINDS:
        monkeypatch.setattr(device, "half_type", lambda half=half: half)
        plan = read_record(Plan, read_json(args.plan), args.plan)
        folders.add(choose_work(plan, args.work_below, torch.device(kind)))
    assert len(folders) == len(KINDS)


def test_untrained_encoders_need_run_json_alone(toy: Toy, tmp_path: Path, call: Call) -> None:
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
        ("plan", {"options": OPTIONS | {"heads": 3}}, "3 heads do not divide the width 16"),
        ("plan", {"languages": {"en": ONE}}, "job.plan: languages: expected en and at least one other"),
        ("plan", {"languages": {"en": ONE, "fr": ONE}}, "job.plan: languages.fr.links: missing key"),
        ("plan", {"data": TESTED}, "job.plan: data.x.test: ru not among languages"),
    ],
)
def test_wrong_files_and_plans_are_one_line(
    name: str, change: Any, problem: str, toy: Toy, tmp_path: Path, refused: Callable[..., str]
) -> None:
    arguments, path = command(tmp_path, toy, "job", **(change if name == "plan" else {})), tmp_path / name
    if name != "plan":
        path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))
    assert problem in refused(main, *arguments, out=tmp_path / "job.json")
