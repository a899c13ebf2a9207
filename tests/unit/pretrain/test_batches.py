"""Text in training and validation: batches, masks, numberings, held-out losses, and the likeness of languages."""

import math
from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import made_up, write_vocab
from toy_runs import SIZE, make, plain_loss, read, separated

from xling.align.pooling import Window, add_up
from xling.bpe import encode_text
from xling.bpe.encode_text import encode_sentences
from xling.bpe.streams import END, SPECIAL, TokenStream, TokenStreamWriter, pack
from xling.bpe.vocabulary import Vocabulary, read_parts
from xling.core.errors import InputError
from xling.core.seeds import numpy_rng
from xling.pretrain import validate
from xling.pretrain.batches import (
    MASK,
    Batches,
    LineSampler,
    StreamSampler,
    capacity,
    mask_fixed,
    mask_tokens,
)
from xling.pretrain.run import vocabulary_sizes
from xling.synthetic.formats.text import write_lines

IDS = 1000
WORDS = np.arange(SPECIAL, IDS)


def batches(toy, tmp_path, size=SIZE, **changes):
    return Batches(read(tmp_path, **changes), {code: toy / code for code in ("en", "fr")}, {"en": size, "fr": size}, {})


def within(count, of, share):
    """Say whether a count is within four standard errors of its share."""
    return abs(count - of * share) < 4 * np.sqrt(of * share * (1 - share))


@pytest.mark.parametrize(("measure", "amounts"), [("lines", [900, 300]), ("tokens", None), ("even", [1, 1])])
def test_languages_are_drawn_by_lines_tokens_or_evenly(toy, tmp_path, measure, amounts):
    changes = {"pretrain__language_share": measure} if measure != "lines" else {}  # which are the default
    independent = batches(toy, tmp_path, **changes)
    stratified = batches(toy, tmp_path, **changes, pretrain__language_draws="stratified")
    amounts = amounts or [len(TokenStream(toy / code, "train")) for code in ("en", "fr")]
    english, french = (amount**0.7 for amount in amounts)
    expected = french / (english + french)
    assert independent.bounds.tolist() == [pytest.approx(1 - expected)]  # draws alone could not tell lines from tokens
    drawn = np.array([independent.languages(update) for update in range(2000)])
    assert within(int(drawn.sum()), drawn.size, expected)
    counts = [sum(stratified.languages(update)) for update in range(2000)]
    assert set(counts) == {math.floor(4 * expected), math.ceil(4 * expected)}
    assert abs(np.mean(counts) - 4 * expected) < 0.03


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
    with pytest.raises(InputError, match="a sequence needs 99999"):
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
        assert within(int((drawn == length).sum()), 4000, lengths[lengths == length].sum() / lengths.sum())
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


@pytest.mark.parametrize("kind", ["mono", "joint", "union", "prefixed", "separate"])
def test_training_reads_the_ids_of_the_vocabulary(kind, tmp_path, call):
    """Streams hold pieces; training looks their ids up. Other streams hold what the vocabulary makes of each line."""
    texts = {
        code: [f"{a} . {a} ." for a in made_up(code, 200)] for code in (("fr",) if kind == "mono" else ("en", "fr"))
    }
    vocab = write_vocab(tmp_path, kind, texts, merges=150)
    stored, plain = ({code: tmp_path / name / code for code in texts} for name in ("stored", "plain"))
    about, _, tables = read_parts(vocab)
    for code, lines in texts.items():
        lines.append(f"{made_up('en', 1)[0]} ☃ . {made_up('fr', 1)[0]}")  # words of the other language and of none
        write_lines(tmp_path / f"{code}.txt", lines)
        splits = [x for split in ("train", "valid") for x in ("--split", f"{split}={tmp_path / code}.txt")]
        flags = ["--vocab", vocab, "--language", code, *splits, "--sentence-ends", "--out", stored[code]]
        assert call(encode_text.main, *flags).code == 0
        with TokenStreamWriter(plain[code], about["size"], code) as writer:
            for split in ("train", "valid"):
                writer.add(split, *pack([encode_sentences(Vocabulary.load(vocab), code, line) for line in lines]))
    for sequences in ("streams", "lines"):
        run = read(
            tmp_path, languages=list(texts), selection_language="fr", pretrain__sequences=sequences,
            pretrain__random_words="language", **separated(kind == "separate"),
        )  # fmt: skip
        sizes = vocabulary_sizes(vocab, run)
        assert sizes == {code: Vocabulary.load(vocab).size_of(code) for code in texts}
        ours, theirs = Batches(run, stored, sizes, tables), Batches(run, plain, sizes, {})
        for micro in range(6):
            language = micro % len(texts)
            assert torch.equal(ours.batch(1, micro, language).packed, theirs.batch(1, micro, language).packed)
        held = [validate.Validation(run, stored, tables), validate.Validation(run, plain, {})]
        assert held[0].entropy == held[1].entropy
        for left, right in zip(*(chain(*side.batches) for side in held), strict=True):
            assert torch.equal(left.packed, right.packed)


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
    model = make(toy, tmp_path, shape__norm=norm)[1].encoder.eval()
    inner = [[7, 8], [9], [*range(30, 34)]]
    sentences = [[END, *ids, END] for ids in inner]
    windows = [
        Window(*map(np.array, (ids, [row] * len(ids), [1 / len(ids)] * len(ids)))) for row, ids in enumerate(inner)
    ]
    torch.testing.assert_close(
        validate.sentence_vectors(model, sentences, 1), add_up(model, 1, windows, len(inner)), atol=1e-6, rtol=1e-5
    )
    found = validate.structure(model, [sentences, sentences])
    assert (set(found["retrieval"]), len(found["cka"]), found["sentences"]) == ({"en-fr", "fr-en"}, 3, 3)
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
