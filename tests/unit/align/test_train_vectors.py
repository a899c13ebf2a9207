"""Own fastText vectors: words of the same sentences are near each other, and a run can be repeated to the byte."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xling.data.fasttext import read_vectors

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = [
    first + second + third for first, second, third in zip(LETTERS * 2, LETTERS[3:] * 3, LETTERS[7:] * 3, strict=False)
]
TOPICS = [WORDS[start : start + 4] for start in range(0, 40, 4)]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences of one topic each, as distributional semantics would have them; one word occurs only once."""
    rng = np.random.default_rng(1)
    lines = [" ".join(rng.permutation(TOPICS[topic] * 3)) for topic in rng.choice(len(TOPICS), 1500)]
    path = tmp_path_factory.mktemp("text") / "train.txt"
    path.write_text("\n".join([*lines, "hapax"]) + "\n", encoding="utf-8")
    return path


def train(text: Path, out: Path, *flags: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own: Python's hashes must not decide anything."""
    words = ["--text", str(text), "--width", "16", "--epochs", "20", "--buckets", "2000", "--out", str(out), *flags]
    command = [sys.executable, "-m", "xling.align.train_vectors", *words]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_words_of_a_topic_are_near_each_other_and_every_run_gives_the_same_bytes(text: Path, tmp_path: Path) -> None:
    """Letters say nothing about the topic here, and rare words are left out."""
    first, second = tmp_path / "a.vec", tmp_path / "b.vec"
    assert train(text, first).returncode == train(text, second, hash_seed="7").returncode == 0
    assert first.read_bytes() == second.read_bytes()
    words, vectors, _ = read_vectors(first, 100)
    places = {word: place for place, word in enumerate(words)}
    assert set(places) == {word for topic in TOPICS for word in topic}
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for topic in TOPICS:
        own = [places[word] for word in topic]
        others = [place for place in places.values() if place not in own]
        assert (unit[own] @ unit[own].T).min() > (unit[own] @ unit[others].T).max()


def test_too_little_text_is_refused(tmp_path: Path) -> None:
    """Nothing is written."""
    (tmp_path / "short.txt").write_text("one two three\n")
    done = train(tmp_path / "short.txt", tmp_path / "out.vec")
    assert done.returncode != 0
    assert "short.txt: no word occurs 5 times (give it more text or lower min_count)" in done.stderr
    assert not (tmp_path / "out.vec").exists()
