"""Batches: what is in them, how often each language comes, that their number alone decides, and the paper's masks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from toy_runs import SIZE, read, separated

from xling.bpe.streams import END, TokenStream
from xling.core.errors import InputError
from xling.core.seeds import numpy_rng
from xling.pretrain.batches import (
    MASK,
    SPECIAL,
    Batches,
    LineSampler,
    StreamSampler,
    capacity,
    language_chances,
    mask_fixed,
    mask_tokens,
)
from xling.pretrain.config import Run

IDS = 1000
WORDS = np.arange(SPECIAL, IDS)


def batches(toy: Path, tmp_path: Path, size: int = SIZE, **changes: Any) -> Batches:
    return Batches(read(tmp_path, **changes), {code: toy / code for code in ("en", "fr")}, {"en": size, "fr": size}, {})


@pytest.mark.parametrize("measure", ["", "tokens", "even"])
def test_languages_are_drawn_by_lines_tokens_or_evenly(toy: Path, tmp_path: Path, measure: str) -> None:
    made = batches(toy, tmp_path, **({"pretrain__language_share": measure} if measure else {}))
    drawn = np.array([language for update in range(2000) for language in made.languages(update)])
    streams = [TokenStream(toy / code, "train") for code in ("en", "fr")]
    amounts = {"tokens": [len(stream) for stream in streams], "even": [1, 1]}.get(measure, [900, 300])
    chances = [(amount / sum(amounts)) ** 0.7 for amount in amounts]
    expected = chances[1] / sum(chances)
    assert language_chances(amounts, 0.7)[1] == pytest.approx(expected)
    assert abs(drawn.mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / len(drawn))


def test_stratified_draws_give_every_update_all_languages(toy: Path, tmp_path: Path) -> None:
    even = batches(toy, tmp_path, pretrain__language_share="even", pretrain__language_draws="stratified")
    assert {tuple(sorted(even.languages(update))) for update in range(200)} == {(0, 0, 1, 1)}
    made = batches(toy, tmp_path, pretrain__language_draws="stratified")
    counts = np.array([sum(made.languages(update)) for update in range(4000)])
    expected = 4 * language_chances([900, 300], 0.7)[1]
    assert set(counts) == {int(expected), int(expected) + 1}
    assert abs(counts.mean() - expected) < 0.03


@pytest.mark.parametrize("sequences", ["streams", "lines"])
def test_a_batch_depends_on_its_number_and_the_seed_alone(toy: Path, tmp_path: Path, sequences: str) -> None:
    one, again, other = (batches(toy, tmp_path, pretrain__sequences=sequences, seed=seed) for seed in (1, 1, 2))
    forward = [one.batch(7, micro, 0) for micro in range(4)]
    for micro in (3, 1, 0, 2):
        assert torch.equal(again.batch(7, micro, 0).packed, forward[micro].packed)
    assert forward[0].seed != forward[1].seed
    assert forward[0].packed.tolist() not in (forward[1].packed.tolist(), other.batch(7, 0, 0).packed.tolist())


def test_streams_are_pieces_of_the_text(toy: Path) -> None:
    stream = TokenStream(toy / "en", "train")
    tokens = StreamSampler(stream, toy, 16, 128)(numpy_rng(1))
    assert tokens.shape == (8, 16)
    text = " ".join(map(str, stream.slice(0, len(stream)).tolist()))
    assert all(" ".join(map(str, row.tolist())) in text for row in tokens)
    assert (tokens == END).any()
    with pytest.raises(InputError, match="at least one sequence of 99999"):
        StreamSampler(stream, toy / "en", 99999, 99999)


def test_lines_have_one_length_and_stand_between_ends_and_every_token_is_equally_likely(toy: Path) -> None:
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
def test_random_words_are_what_the_softmax_knows_or_the_text_holds(
    toy: Path, tmp_path: Path, scope: str, separate: bool, seen: bool
) -> None:
    more = SIZE + 9  # ids that no text holds
    made = batches(toy, tmp_path, more, pretrain__random_words=scope, **separated(bool(separate)))
    assert made.words[0].tolist() == list(range(4, SIZE if seen else more))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return read(tmp_path_factory.mktemp("run"))


def within(count: int, of: int, share: float) -> bool:
    """Say whether a count is within four standard errors of its share."""
    return abs(count - of * share) < 4 * np.sqrt(of * share * (1 - share))


def test_fifteen_per_cent_of_every_position_and_eighty_ten_ten(run: Run) -> None:
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
def test_something_is_predicted_but_never_the_first_position(run: Run, rows: int, length: int, seed: int) -> None:
    tokens = numpy_rng(seed).integers(SPECIAL, IDS, (rows, length))
    masked = mask_tokens(tokens, numpy_rng("m", seed), run.pretrain, WORDS)
    assert len(masked.picks) >= 1  # a mean over no predictions would be NaN
    assert (masked.picks % length > 0).all()
    assert np.array_equal(masked.inputs[:, 0], tokens[:, 0])


@pytest.mark.parametrize(("tokens", "rate"), [(24576, 0.15), (8192, 0.15), (512, 0.3), (4, 0.15)])
def test_there_is_room_for_six_standard_deviations(tokens: int, rate: float) -> None:
    most = tokens * rate + 6 * np.sqrt(tokens * rate * (1 - rate))
    assert min(most, tokens) <= capacity(tokens, rate) <= min(most + 16, tokens)


@pytest.mark.parametrize("ends_stay", [False, True])
def test_ends_of_sentences_stay_where_positions_depend_on_them(run: Run, ends_stay: bool) -> None:
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
