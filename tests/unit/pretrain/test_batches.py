"""Text in training and validation: batches, masks, numberings, held-out losses, and the likeness of languages."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor
from tiny_models import made_up, write_vocab
from toy_runs import SIZE, make, plain_loss, read, separated

from xling.align.pooling import Window, add_up
from xling.bpe import encode_text
from xling.bpe.streams import END, SPECIAL, TokenStream, TokenStreamWriter, pack
from xling.bpe.vocabulary import read_parts
from xling.core.errors import InputError
from xling.core.io import read_json, write_text
from xling.core.seeds import numpy_rng
from xling.pretrain import validate
from xling.pretrain.batches import (
    MASK,
    Batches,
    LineSampler,
    StreamSampler,
    capacity,
    language_chances,
    mask_fixed,
    mask_tokens,
)
from xling.pretrain.run import vocabulary_sizes

IDS = 1000
WORDS = np.arange(SPECIAL, IDS)


def batches(toy, tmp_path, size=SIZE, **changes):
    return Batches(read(tmp_path, **changes), {code: toy / code for code in ("en", "fr")}, {"en": size, "fr": size}, {})


@pytest.mark.parametrize("measure", ["", "tokens", "even"])
def test_languages_are_drawn_by_lines_tokens_or_evenly(toy, tmp_path, measure):
    made = batches(toy, tmp_path, **({"pretrain__language_share": measure} if measure else {}))
    drawn = np.array([language for update in range(2000) for language in made.languages(update)])
    streams = [TokenStream(toy / code, "train") for code in ("en", "fr")]
    amounts = {"tokens": [len(stream) for stream in streams], "even": [1, 1]}.get(measure, [900, 300])
    chances = [(amount / sum(amounts)) ** 0.7 for amount in amounts]
    expected = chances[1] / sum(chances)
    assert language_chances(amounts, 0.7)[1] == pytest.approx(expected)
    assert abs(drawn.mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / len(drawn))


def test_stratified_draws_give_every_update_all_languages(toy, tmp_path):
    even = batches(toy, tmp_path, pretrain__language_share="even", pretrain__language_draws="stratified")
    assert {tuple(sorted(even.languages(update))) for update in range(200)} == {(0, 0, 1, 1)}
    made = batches(toy, tmp_path, pretrain__language_draws="stratified")
    counts = np.array([sum(made.languages(update)) for update in range(4000)])
    expected = 4 * language_chances([900, 300], 0.7)[1]
    assert set(counts) == {int(expected), int(expected) + 1}
    assert abs(counts.mean() - expected) < 0.03


@pytest.mark.parametrize("sequences", ["streams", "lines"])
def test_a_batch_depends_on_its_number_and_the_seed_alone(toy, tmp_path, sequences):
    one, again, other = (batches(toy, tmp_path, pretrain__sequences=sequences, seed=seed) for seed in (1, 1, 2))
    forward = [one.batch(7, micro, 0) for micro in range(4)]
    for micro in (3, 1, 0, 2):
        assert torch.equal(again.batch(7, micro, 0).packed, forward[micro].packed)
    assert forward[0].seed != forward[1].seed
    assert forward[0].packed.tolist() not in (forward[1].packed.tolist(), other.batch(7, 0, 0).packed.tolist())


def test_streams_are_pieces_of_the_text(toy):
    stream = TokenStream(toy / "en", "train")
    tokens = StreamSampler(stream, toy, 16, 128)(numpy_rng(1))
    assert tokens.shape == (8, 16)
    text = " ".join(map(str, stream.slice(0, len(stream)).tolist()))
    assert all(" ".join(map(str, row.tolist())) in text for row in tokens)
    assert (tokens == END).any()
    with pytest.raises(InputError, match="at least one sequence of 99999"):
        StreamSampler(stream, toy / "en", 99999, 99999)


def test_lines_have_one_length_and_stand_between_ends_and_every_token_is_equally_likely(toy):
    stream = TokenStream(toy / "fr", "train")
    known = {tuple(stream.line(number).tolist()) for number in range(stream.lines)}
    sampler, rng, drawn = LineSampler(stream, toy, 32, 128), numpy_rng(3), np.zeros(4000)
    for number in range(4000):
        tokens = sampler(rng)
        drawn[number] = tokens.shape[1]
        if number < 50:
            assert 128 - tokens.shape[1] < tokens.size <= 128
            assert (tokens[:, [0, -1]] == END).all()
            assert all(tuple(row[1:-1].tolist()) in known for row in tokens)
    lengths = np.diff(stream.starts) + 1
    for length in np.unique(lengths):
        expected = lengths[lengths == length].sum() / lengths.sum()
        assert abs((drawn == length).mean() - expected) < 4 * np.sqrt(expected / 4000)
    cut = LineSampler(TokenStream(toy / "en", "train"), toy, 5, 50)
    assert {cut(numpy_rng(i)).shape[1] for i in range(200)} == {4, 5}


@pytest.mark.parametrize(("scope", "separate", "seen"), [("any", 0, 0), ("language", 0, 1), ("language", 1, 0)])
def test_random_words_are_what_the_softmax_knows_or_the_text_holds(toy, tmp_path, scope, separate, seen):
    more = SIZE + 9  # ids that no text holds
    made = batches(toy, tmp_path, more, pretrain__random_words=scope, **separated(bool(separate)))
    assert made.words[0].tolist() == list(range(4, SIZE if seen else more))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return read(tmp_path_factory.mktemp("run"))


def within(count, of, share):
    """Say whether a count is within four standard errors of its share."""
    return abs(count - of * share) < 4 * np.sqrt(of * share * (1 - share))


def test_fifteen_per_cent_of_every_position_and_eighty_ten_ten(run):
    rng = numpy_rng("masking statistics")
    tokens = rng.integers(SPECIAL, IDS, (4000, 32))
    masked = mask_tokens(tokens, rng, run.pretrain, WORDS)
    by_position = np.bincount(masked.picks % 32, minlength=32)
    assert by_position[0] == 0
    assert all(within(int(count), 4000, 0.15) for count in by_position[1:])
    assert within(len(masked.picks), 4000 * 31, 0.15)
    seen, real, n = masked.inputs.ravel()[masked.picks], tokens.ravel()[masked.picks], len(masked.picks)
    assert np.array_equal(real, masked.targets)
    assert within(int((seen == MASK).sum()), n, 0.8)
    assert within(int((seen == real).sum()), n, 0.1 + 0.1 / len(WORDS))
    replaced = seen[(seen != MASK) & (seen != real)]
    assert within(len(replaced), n, 0.1)
    assert set(replaced) <= set(WORDS)
    assert within(int((replaced < np.median(WORDS)).sum()), len(replaced), 0.5)  # uniform over the allowed words
    untouched = np.ones(tokens.size, dtype=bool)
    untouched[masked.picks] = False
    assert np.array_equal(masked.inputs.ravel()[untouched], tokens.ravel()[untouched])


@given(rows=st.integers(1, 6), length=st.integers(2, 9), seed=st.integers(0, 10**6))
def test_something_is_predicted_but_never_the_first_position(run, rows, length, seed):
    tokens = numpy_rng(seed).integers(SPECIAL, IDS, (rows, length))
    masked = mask_tokens(tokens, numpy_rng("m", seed), run.pretrain, WORDS)
    assert len(masked.picks) >= 1  # a mean over no predictions would be NaN
    assert (masked.picks % length > 0).all()
    assert np.array_equal(masked.inputs[:, 0], tokens[:, 0])


@pytest.mark.parametrize(("tokens", "rate"), [(24576, 0.15), (8192, 0.15), (512, 0.3), (4, 0.15)])
def test_there_is_room_for_six_standard_deviations(tokens, rate):
    most = tokens * rate + 6 * np.sqrt(tokens * rate * (1 - rate))
    assert min(most, tokens) <= capacity(tokens, rate) <= min(most + 16, tokens)


@pytest.mark.parametrize("ends_stay", [False, True])
def test_ends_of_sentences_stay_where_positions_depend_on_them(run, ends_stay):
    rng = numpy_rng("ends")
    tokens = rng.integers(SPECIAL, IDS, (400, 64))
    tokens[:, ::8] = END
    fixed = mask_fixed(tokens, rng, 0.15, ends_stay)
    assert (fixed.inputs.ravel()[fixed.picks] == MASK).all()  # validation always shows the mask
    for masked in (mask_tokens(tokens, rng, run.pretrain, WORDS, ends_stay), fixed):
        assert (masked.picks % 64 > 0).all()
        inside = int((masked.targets == END).sum())
        assert (inside == 0) if ends_stay else within(inside, 400 * 7, 0.15)
        assert within(len(masked.picks) - inside, 400 * 56, 0.15)


LINES = {
    code: [f"{a} . {b} ." for a, b in zip(made_up(code, 200), made_up(code, 200, 2), strict=True)]
    for code in ("en", "fr")
}
# The last line holds words of the other language and of none.
TEXTS = {code: [*lines, f"{LINES['fr'][0]} ☃ . {LINES['en'][0]}"] for code, lines in LINES.items()}


def by_lookup(vocab, kind, code, line):
    """Return a line's ids: sentencepiece cuts each sentence, pieces.txt says the place of each piece."""
    entries = (vocab / "pieces.txt").read_text(encoding="utf-8").splitlines()
    if kind == "separate":  # the languages one after another, each with the special tokens first
        second = entries.index("<pad>", 1)
        entries = entries[:second] if code == "en" else entries[second:]
    places = {name: place for place, name in enumerate(entries)}
    model = SentencePieceProcessor(model_file=str(vocab / f"{'joint' if kind == 'joint' else code}.model"))
    sentences = " ".join(f"{word}\n" if word in (".", "!", "?") else word for word in line.split()).split("\n")
    ids: list[int] = []
    for sentence in filter(None, map(str.strip, sentences)):
        pieces = [model.id_to_piece(number) for number in model.encode(sentence)]
        own = [f"{code}:{piece}" if kind == "prefixed" and piece != "<unk>" else piece for piece in pieces]
        ids += [*([END] if ids else []), *(places[name] for name in own)]
    return ids


@pytest.mark.parametrize("kind", ["mono", "joint", "union", "prefixed", "separate"])
def test_training_reads_the_ids_of_a_plain_lookup(kind, tmp_path, call):
    texts = {code: lines for code, lines in TEXTS.items() if kind != "mono" or code == "fr"}
    vocab = write_vocab(tmp_path, kind, {code: lines[:-1] for code, lines in texts.items()}, merges=150)
    stored, plain = ({code: tmp_path / name / code for code in texts} for name in ("stored", "plain"))
    about, _, tables = read_parts(vocab)
    for code, lines in texts.items():
        with write_text(tmp_path / f"{code}.txt") as handle:
            handle.writelines(f"{line}\n" for line in lines)
        splits = [x for split in ("train", "valid") for x in ("--split", f"{split}={tmp_path / code}.txt")]
        flags = ["--vocab", vocab, "--language", code, *splits, "--sentence-ends", "--out", stored[code]]
        assert call(encode_text.main, *flags).code == 0
        packed = pack([by_lookup(vocab, kind, code, line) for line in lines])
        with TokenStreamWriter(plain[code], about["size"], code) as writer:
            for split in ("train", "valid"):
                writer.add(split, *packed)
        stream = TokenStream(stored[code], "train", tables[code])
        assert stream.slice(0, len(stream)).tolist() == packed[0].tolist()
        assert read_json(stored[code] / "meta.json")["splits"]["train"]["unknown"] > 0
    for sequences in ("streams", "lines"):
        run = read(
            tmp_path, languages=list(texts), selection_language="fr", pretrain__sequences=sequences,
            pretrain__random_words="language", **separated(kind == "separate"),
        )  # fmt: skip
        sizes = vocabulary_sizes(vocab, run)
        ours, theirs = Batches(run, stored, sizes, tables), Batches(run, plain, sizes, {})
        for micro in range(6):
            language = micro % len(texts)
            assert torch.equal(ours.batch(1, micro, language).packed, theirs.batch(1, micro, language).packed)
        held = [validate.Validation(run, stored, tables), validate.Validation(run, plain, {})]
        assert held[0].entropy == held[1].entropy
        for left, right in zip(*(side.batches for side in held), strict=True):
            assert all(torch.equal(a.packed, b.packed) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("sequences", ["streams", "lines"])
def test_the_loss_is_the_mean_over_all_predicted_tokens_whatever_the_seed(toy, tmp_path, sequences):
    run, engine, _ = make(toy, tmp_path, pretrain__sequences=sequences)
    folders = {code: toy / code for code in run.languages}
    validation = validate.Validation(run, folders, {})
    other = validate.Validation(make(toy, tmp_path, pretrain__sequences=sequences, seed=2)[0], folders, {})
    assert all(torch.equal(a.packed, b.packed) for a, b in zip(validation.batches[0], other.batches[0], strict=True))
    with torch.no_grad():
        encoder = engine.encoder.eval()
        for found, batches in zip(validation.losses(engine), validation.batches, strict=True):
            counts = [len(batch.targets) for batch in batches]
            total = sum(plain_loss(encoder, batch).item() * n for batch, n in zip(batches, counts, strict=True))
            assert found == pytest.approx(total / sum(counts), rel=1e-5)


def test_it_reads_the_first_tokens_in_order_and_no_line_twice(toy, tmp_path):
    stream = TokenStream(toy / "en", "valid")
    blocks = list(validate.held_out(stream, toy, read(tmp_path, pretrain__validation_tokens=160).pretrain))
    assert np.array_equal(np.concatenate([block.ravel() for block in blocks]), stream.slice(0, 160))
    by_line = read(tmp_path, pretrain__sequences="lines", pretrain__validation_tokens=10**6).pretrain
    rows = [tuple(row[1:-1].tolist()) for block in validate.held_out(stream, toy, by_line) for row in block]
    assert sorted(rows) == sorted(tuple(stream.line(i).tolist()) for i in range(stream.lines))


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_sentences_are_the_means_that_the_analyses_of_a_finished_model_see(toy, tmp_path, norm):
    model, sentences = (
        make(toy, tmp_path, shape__norm=norm)[1].encoder.eval(),
        [[2, 7, 8, 2], [2, 9, 2], [2, *range(30, 34), 2]],
    )
    windows = [Window(*map(np.array, (ids[1:-1], [row] * (len(ids) - 2), [1 / (len(ids) - 2)] * (len(ids) - 2))))
               for row, ids in enumerate(sentences)]  # fmt: skip
    expected = add_up(model, 1, windows, len(sentences))
    torch.testing.assert_close(validate.sentence_vectors(model, sentences, 1), expected, atol=1e-6, rtol=1e-5)
    found = validate.structure(model, [sentences, sentences])
    assert set(found["retrieval"]) == {"en-fr", "fr-en"}
    assert (len(found["cka"]), found["sentences"]) == (3, 3)
    assert found["cka"] != [pytest.approx(1.0)] * 3  # the language vectors differ


def test_retrieval_counts_nearest_neighbours_and_entropy_is_that_of_the_words():
    swapped = torch.eye(4)[[1, 0, 2, 3]]
    assert validate.retrieval(torch.stack([torch.eye(4) * 3, swapped]), torch.eye(4).expand(2, 4, 4)) == [1.0, 0.5]
    assert validate.unigram_entropy([np.array([[2, 10, 11, 12, 13]] * 3)]) == pytest.approx(math.log(4))
    unequal = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert validate.unigram_entropy([np.array([[2, 9, 9, 9, 8]])]) == pytest.approx(unequal)


def test_parallel_sentences_are_encoded_between_ends(toy, tmp_path):
    files = {"en": tmp_path / "en.txt", "fr": tmp_path / "fr.txt"}
    files["en"].write_text("the cat\nthe mat the mat the mat\n")
    files["fr"].write_text("le chat\nle tapis\n")
    english, french = validate.read_parallel(files, toy / "vocab", 8)
    assert len(english) == len(french) == 2
    assert all(ids[0] == ids[-1] == 2 and len(ids) <= 8 for ids in english + french)
    files["fr"].write_text("a\n")
    with pytest.raises(InputError, match=r"fr\.txt: ends after 1 lines"):
        validate.read_parallel(files, toy / "vocab", 8)
