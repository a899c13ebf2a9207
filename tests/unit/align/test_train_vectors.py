"""Own fastText vectors: words of the same sentences are near each other, and a run can be repeated to the byte."""

import os
import subprocess
import sys

import numpy as np

from xling.align.train_vectors import main
from xling.data.fasttext import read_vectors

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = [a + b + c for a, b, c in zip(LETTERS * 2, LETTERS[3:] * 3, LETTERS[7:] * 3, strict=False)]
TOPICS = [WORDS[start : start + 4] for start in range(0, 40, 4)]


def flags(text, out):
    return ["--text", str(text), "--width", "16", "--epochs", "20", "--buckets", "2000", "--out", str(out)]


def test_words_of_a_topic_are_near_each_other_and_every_run_gives_the_same_bytes(call, tmp_path):
    """Sentences are of one topic each; letters say nothing about it, rare words are left out, nor do hashes decide."""
    rng, text = np.random.default_rng(1), tmp_path / "train.txt"
    lines = [" ".join(rng.permutation(TOPICS[topic] * 3)) for topic in rng.choice(len(TOPICS), 1500)]
    text.write_text("\n".join([*lines, "hapax"]) + "\n", encoding="utf-8")
    first, second = tmp_path / "a.vec", tmp_path / "b.vec"
    assert call(main, *flags(text, first)).code == 0
    command = [sys.executable, "-m", "xling.align.train_vectors", *flags(text, second)]
    subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONHASHSEED": "7"}, check=True)
    assert first.read_bytes() == second.read_bytes()
    words, vectors = read_vectors(first, 100)
    places = {word: place for place, word in enumerate(words)}
    assert set(places) == {word for topic in TOPICS for word in topic}
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for topic in TOPICS:
        own = [places[word] for word in topic]
        others = [place for place in places.values() if place not in own]
        assert (unit[own] @ unit[own].T).min() > (unit[own] @ unit[others].T).max()


def test_too_little_text_is_refused(refused, tmp_path):
    (tmp_path / "short.txt").write_text("one two three\n")
    problem = "short.txt: no word occurs 5 times (give it more text or lower min_count)"
    assert problem in refused(main, *flags(tmp_path / "short.txt", tmp_path / "out.vec"), out=tmp_path / "out.vec")
