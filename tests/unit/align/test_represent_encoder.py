"""Representations equal what one reads off the encoder word by word, however text is cut, batched and streamed."""

import copy
from collections import Counter, defaultdict
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.finetune.toy_tasks import RUN, all_words, write_described

from xling.align import pooling
from xling.align.pooling import NOWHERE, Window, batches, cut
from xling.align.represent_encoder import Sample, main, word_window
from xling.align.states import States, states_file
from xling.bpe.encode_text import encode_sentences
from xling.bpe.streams import END
from xling.bpe.vocabulary import Vocabulary
from xling.core.io import read_json
from xling.core.seeds import python_rng
from xling.model.encoder import Encoder
from xling.model.files import load_encoder
from xling.pretrain.config import read_run

WORDS = all_words("en")
RNG = python_rng("toy lines", 1)  # of very different length, some longer than the encoder reads
LINES = [" ".join(RNG.choices(WORDS, weights=range(len(WORDS), 0, -1), k=RNG.randrange(1, 15))) for _ in range(60)]
LENGTH = 12  # of the toy encoder's training


def write_model(folder, norm="pre"):
    """Write a vocabulary, in which some words are one subword, and an encoder of English alone."""
    described = copy.deepcopy(RUN) | {"model": "en.mono.s1", "languages": ["en"]}
    described["shape"] |= {"norm": norm, "positions": 16}
    described["pretrain"]["length"] = LENGTH
    return write_described(folder, "mono", described, seed=5)


def oracle(encoder, vocabulary, line):
    """Return for each subword of a line the number of its word, and its states (layers, subwords, width) in float64."""
    pieces = [vocabulary.encode_line("en", word) for word in line.split()]
    owners = [number for number, ids in enumerate(pieces) for _ in ids]
    ids, found = [piece for word in pieces for piece in word], []
    for start in range(0, len(ids), LENGTH - 2):
        tokens = torch.tensor([[2, *ids[start : start + LENGTH - 2], 2]])
        with torch.no_grad():
            raw = [state[0, 1:-1].double() for state in encoder(tokens, 0)]
        pre = encoder.config.shape.norm == "pre"
        found.append(torch.stack([_normed(state) if pre and i else state for i, state in enumerate(raw)]))
    return owners, torch.cat(found, dim=1).numpy()


def _normed(state):
    centred = state - state.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()


def represent(run, folder, *more, norm="pre"):
    """Run the command on the toy lines and return vocabulary, encoder and what `run` returns."""
    vocab, encoder = write_model(folder, norm)
    text = folder / "text.txt"
    text.write_text("".join(f"{line}\n" for line in LINES))
    flags = ["--encoder", encoder, "--vocab", vocab, "--sentences", f"set:en={text}", "--text", text, "--device", "cpu"]
    return vocab, encoder, run(main, *flags, "--out", folder / "out", *more)


def read(folder, name, kind="trained"):
    return States(states_file(folder / "out", kind, name, "en"))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_words_and_sentences_are_the_means_of_their_subwords(call, tmp_path, norm, monkeypatch):
    monkeypatch.setattr(pooling, "POOL", 7)
    monkeypatch.setitem(pooling.BATCH_TOKENS, "cpu", 30)  # many small batches
    vocab, folder, done = represent(call, tmp_path, "--words", 8, norm=norm)
    assert done.code == 0, done.error
    encoder, vocabulary = load_encoder(folder), Vocabulary.load(vocab)
    occurrences, means = defaultdict(list), []
    for line in LINES:
        owners, states = oracle(encoder, vocabulary, line)
        means.append(states.mean(axis=1))
        for number, word in enumerate(line.split()):
            occurrences[word].append(states[:, np.array(owners) == number].mean(axis=1))
    sentences, words = read(tmp_path, "set"), read(tmp_path, "words")
    assert sentences.items == LINES
    np.testing.assert_allclose([sentences.read(i) for i in range(3)], np.stack(means, axis=1), atol=2e-6)
    assert words.items == sorted(occurrences, key=lambda word: (-len(occurrences[word]), word))[:8]
    expected = np.stack([np.mean(occurrences[word], axis=0) for word in words.items], axis=1)
    np.testing.assert_allclose([words.read(i) for i in range(3)], expected, atol=2e-3)  # kept in float16


def test_rows_of_single_subwords_of_the_encoder_and_of_its_untrained_twin(call, tmp_path):
    vocab, folder, done = represent(call, tmp_path, "--untrained", "--config-hash", "abc")
    assert done.code == 0, done.error
    trained, vocabulary = load_encoder(folder), Vocabulary.load(vocab)
    words = read(tmp_path, "words").items or []
    single = [word for word in words if len(vocabulary.encode_line("en", word)) == 1]
    assert 0 < len(single) < len(words)
    ids = vocabulary.encode_words("en", single)
    twin = Encoder(trained.config, read_run(folder / "run.json").seed)  # what training began with
    for kind, encoder in (("trained", trained), ("untrained", twin)):
        rows = read(tmp_path, "rows", kind)
        assert rows.items == single
        np.testing.assert_array_equal(rows.read(0), encoder.path(0).embeddings.token.detach().numpy()[ids])
    about = read_json(tmp_path / "out" / "states.json")
    assert (about["encoders"], about["config"]) == (["trained", "untrained"], "abc")
    assert about["sets"]["set.en"]["sentences"] == len(LINES)
    represent(call, tmp_path / "again", "--untrained", "--config-hash", "abc")
    files = sorted(path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*.*"))
    assert len(files) == 2 * 7  # with their seals
    assert all((tmp_path / "out" / x).read_bytes() == (tmp_path / "again" / "out" / x).read_bytes() for x in files)


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--sentences", "set:fr=other.txt"], "the encoder has no language 'fr' (it has en)"),
        (["--sentences", "set:en=blank.txt"], "blank.txt, line 2: a blank line where a sentence was expected"),
        (["--sentences", "set:en=empty.txt"], "empty.txt: empty where sentences were expected"),
        (["--text", "empty.txt"], "empty.txt: empty where text was expected"),
        (["--encoder", "nowhere"], "run.json: no such file"),
    ],
)
def test_bad_input_is_one_line(refused, tmp_path, flags, problem, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blank.txt").write_text("the cat\n \n")
    (tmp_path / "empty.txt").touch()
    assert problem in represent(partial(refused, out=tmp_path / "out/states.json"), tmp_path, *flags)[2]


@settings(max_examples=25)
@given(
    st.lists(st.lists(st.tuples(st.integers(4, 9), st.integers(NOWHERE, 3)), min_size=1, max_size=9), max_size=40),
    st.sampled_from(["cpu", "cuda"]),
)
def test_every_subword_is_in_exactly_one_batch(lines, device):
    whole = [Window(*map(np.array, ([i for i, _ in line], [r for _, r in line], [1.0] * len(line)))) for line in lines]
    found: Counter[tuple[int, int]] = Counter()
    for batch in batches((window for line in whole for window in cut(line, 6)), device):
        assert batch.tokens.shape[1] <= 6
        assert device == "cuda" or (batch.tokens != 0).all()
        assert (batch.tokens[:, 0] == 2).all()
        rows = np.repeat(batch.rows, batch.counts)
        assert (np.diff(batch.rows) > 0).all()
        found.update(zip(batch.tokens.reshape(-1)[batch.places].tolist(), rows.tolist(), strict=True))
    assert found == Counter(pair for line in lines for pair in line if pair[1] != NOWHERE)


def test_a_sample_is_spread_evenly(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("".join(f"w{number}\n" for number in range(100)))
    sample = Sample.take(path, 10)
    for _ in range(2):  # the same each time
        assert np.diff([int(words[0][1:]) for words in sample]).tolist() == [10] * 9
    assert len(list(Sample.take(path, 1000))) == 100


def test_ends_of_sentences_stand_where_training_had_them(tmp_path):
    vocabulary, line = Vocabulary.load(write_model(tmp_path)[0]), "the cat . sees ."
    rows = {word: row for row, word in enumerate(WORDS)}
    plain, window = (word_window(vocabulary, "en", line.split(), rows, ends) for ends in (False, True))
    assert window.ids.tolist() == encode_sentences(vocabulary, "en", line)
    inner = window.ids != END
    assert set(window.rows[~inner]) == {NOWHERE}
    assert all(np.array_equal(a[inner], b) for a, b in zip(window, plain, strict=True))
