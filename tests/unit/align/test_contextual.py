"""Contextual transfer in one process: a hidden rotation is undone, the encoder stays as it is, targets only evaluate."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from toy_contextual import OPTIONS, toy_plan, write_data, write_parallel
from unit.finetune.toy_tasks import write_model

from xling.align.frozen import Fitted, Linked, Reader, first_words, fit_map, read_sentences, word_states
from xling.align.mapping import apply_map, fit_normaliser
from xling.align.plan import Options
from xling.align.transfer_contextual import Job, Language, Plan, check_layers, fit_layer, run_job
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import XlingError
from xling.core.records import read_record
from xling.core.seeds import numpy_rng
from xling.finetune.data import Speller
from xling.finetune.trainer import read_material
from xling.model.encoder import Encoder
from xling.model.files import load_encoder, weights_of

Toy = tuple[Path, Path, Path]  # a folder of parallel text, a vocabulary, an encoder
WIDTH, LONGEST = 16, 24
ROTATION = torch.from_numpy(np.linalg.qr(numpy_rng("rotation").normal(size=(WIDTH, WIDTH)))[0]).float()


class Rotated(Reader):
    """A reader whose every state is turned and scaled: another encoder of the same language."""

    def states(self, tokens: Tensor, number: int, keep: Tensor | None = None) -> Tensor:
        return 3.0 * super().states(tokens, number, keep) @ ROTATION


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    """Return a folder of parallel text, and a toy vocabulary and encoder."""
    folder = tmp_path_factory.mktemp("contextual")
    write_parallel(folder)
    return (folder, *write_model(folder / "model"))


@pytest.fixture
def reader(toy: Toy) -> Reader:
    """Return the toy encoder reading English."""
    return Reader(load_encoder(toy[2]).requires_grad_(False), 0)


def speller(toy: Toy) -> Speller:
    return Speller(Vocabulary.load(toy[1]), "en", LONGEST)


def rotated_job(toy: Toy, reader: Reader, task: str, **changes: object) -> Job:
    """Return a job whose English test set is given to English and to the rotated reader alike."""
    sentences = read_sentences(toy[0] / "en.txt", speller(toy))
    words = np.arange(first_words(sentences)[-1])
    turned = Language(Rotated(reader.encoder, 0), sentences, Linked(words, words))
    about = write_data(toy[0], task) | {"test": {"en": str(toy[0] / f"{task}.test.en.jsonl")}}
    values = toy_plan(toy[0], toy[1:], ("en", "turned"), {f"{task}.toy": about}, OPTIONS | changes)
    plan = read_record(Plan, values, "plan")
    ((name, files),), settings = plan.data.items(), replace(plan.options.settings, biaffine=plan.biaffine)
    material, tests = read_material(files, settings, {"en": Vocabulary.load(toy[1])}, {"en": 0}, "en", LONGEST, 7)
    data = {name: (material, {**tests, "turned": (1, tests["en"][1])})}
    return Job(plan, {"en": Language(reader, sentences), "turned": turned}, data, LONGEST)


@pytest.mark.parametrize("task", ["pos", "parsing"])
def test_aligned_transfer_to_a_rotated_encoder_equals_english(
    task: str, toy: Toy, reader: Reader, tmp_path: Path
) -> None:
    before = weights_of(reader.encoder)
    results = run_job(rotated_job(toy, reader, task, layers=[2], epochs=4), tmp_path)
    plain, aligned = results
    assert (plain["way"], aligned["way"]) == ("plain", "aligned")
    assert aligned["map_cosine"]["turned"] == pytest.approx(1.0, abs=1e-6)
    assert aligned["scores"]["turned"]["measures"] == aligned["scores"]["en"]["measures"]
    assert aligned["scores"]["en"]["score"] > 40  # there was something to transfer
    assert plain["scores"]["turned"]["score"] < plain["scores"]["en"]["score"] - 10  # and without the map it is lost
    for name, weight in weights_of(reader.encoder).items():
        assert torch.equal(weight, before[name]), name
    assert not any(parameter.requires_grad for parameter in reader.encoder.parameters())


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_reader_gives_the_states_of_all_analyses_and_never_drops_out(norm: str, reader: Reader) -> None:
    config = reader.encoder.config
    other = Reader(Encoder(replace(config, shape=replace(config.shape, norm=norm)), 3), 1)
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


def test_word_states_are_those_of_first_subwords_in_order(toy: Toy, reader: Reader) -> None:
    path, expected = toy[0] / "long.txt", []
    path.write_text("tom sees the horse .\n" + "the river likes paris . " * 9 + "\nacme eats tom .\n")
    sentences = read_sentences(path, speller(toy))
    assert len(sentences[1].windows) > 1
    for example in sentences:
        for row, place in zip(example.rows, example.places, strict=True):
            window = torch.from_numpy(example.windows[row].astype(np.int64))[None]
            expected.append(list(reader.encoder.layer_states(window, 0))[1][0, place])
    np.testing.assert_allclose(word_states(reader, sentences, 1, LONGEST), torch.stack(expected), atol=1e-5)


def test_a_map_takes_linked_words_only() -> None:
    source = numpy_rng("source").normal(size=(400, WIDTH))
    source /= np.linalg.norm(source, axis=1, keepdims=True)
    target = numpy_rng("noise").normal(size=(400, WIDTH))
    rows = np.arange(300)
    target[rows + 100] = source[rows] @ ROTATION.numpy()  # word i is linked with word i + 100
    fitted = fit_map(source, target, Linked(rows, rows + 100))
    assert fitted.cosine is not None
    assert fitted.cosine > 0.99
    assert fit_map(source, target, Linked(rows, rows)).cosine < 0.6


def test_each_side_is_normalised_over_all_its_words(toy: Toy, reader: Reader) -> None:
    job = rotated_job(toy, reader, "ner")
    few = np.arange(40)
    limited = replace(job.languages["turned"], linked=Linked(few, few))
    other = replace(job, languages={"en": job.languages["en"], "turned": limited})
    for code in ("en", "turned"):
        one, two = fit_layer(job, 1)[code], fit_layer(other, 1)[code]
        np.testing.assert_array_equal(one.normaliser.means, two.normaliser.means)


def test_encoders_of_different_widths_have_no_map(reader: Reader) -> None:
    shape = reader.encoder.config.shape
    with pytest.raises(XlingError, match=r"encoders of one width, not \{'en': 16, 'fr': 32\}"):
        check_layers(read_record(Options, OPTIONS, "options"), {"en": shape, "fr": replace(shape, width=32)})
