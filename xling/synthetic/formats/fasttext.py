"""Word vectors in fastText's text format, computed from a corpus: co-occurrence, shifted PPMI, truncated SVD.

Factorising shifted PPMI is what skip-gram with negative sampling does implicitly (Levy and Goldberg, 2014).
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import svds

from xling.core.errors import XlingError
from xling.core.io import write_text
from xling.core.seeds import numpy_rng
from xling.synthetic.corpus import Document

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int32]
Splitter = Callable[[str], list[str]]

WINDOW = 5  # words on either side, fastText's default
SHIFT = 2.0  # negative samples k in PPMI - log k; fastText's 5 would empty many rows of a few hundred words
TOKENS_AT_ONCE = 1 << 20
BETWEEN_SENTENCES = -1
DECIMALS = 5


class TokenLog:
    """The words of a corpus as numbers, four bytes each, written down while the corpus passes by."""

    def __init__(self, splitter: Splitter) -> None:
        self.splitter = splitter
        self.numbers: dict[str, int] = {}
        self.ids = array("i")
        self._gap = array("i", [BETWEEN_SENTENCES] * WINDOW)  # so wide that no window reaches into the next sentence

    def overhear(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents and note their words on the way."""
        numbers = self.numbers
        for document in documents:
            for sentence in (text for paragraph in document.paragraphs for text in paragraph):
                self.ids.extend([numbers.setdefault(word, len(numbers)) for word in self.splitter(sentence)])
                self.ids.extend(self._gap)
            yield document

    def ranked(self) -> tuple[list[str], Ids]:
        """Return the words, frequent ones first, and the corpus with each word as its rank."""
        ids = np.frombuffer(self.ids, dtype=np.int32)
        counts = np.bincount(ids[ids >= 0], minlength=len(self.numbers))
        words = sorted(self.numbers, key=lambda word: (-counts[self.numbers[word]], word))
        ranks = np.empty(len(words) + 1, dtype=np.int32)
        ranks[[self.numbers[word] for word in words]] = np.arange(len(words))
        ranks[BETWEEN_SENTENCES] = BETWEEN_SENTENCES
        return words, ranks[ids]


def write_vectors(path: Path, log: TokenLog, size: int, seed: int) -> None:
    """Write a vector for every word of a corpus, frequent words first."""
    words, ids = log.ranked()
    if len(words) <= size:
        raise XlingError(f"{path}: {len(words)} words are too few for vectors of size {size} (write more text)")
    vectors = factorise(shifted_ppmi(cooccurrence(ids, len(words), WINDOW), SHIFT), size, seed)
    with write_text(path) as handle:
        handle.write(f"{len(words)} {size}\n")
        for word, vector in zip(words, vectors, strict=True):
            numbers = " ".join(f"{value:.{DECIMALS}f}" for value in vector)
            handle.write(f"{word} {numbers} \n")  # fastText ends a line with a space


def cooccurrence(ids: Ids, words: int, window: int) -> csr_array:
    """Count how often two words stand within a window of each other, both ways; -1 is no word."""
    total = csr_array((words, words), dtype=np.float64)
    for start in range(0, len(ids), TOKENS_AT_ONCE):
        for distance in range(1, window + 1):
            right = ids[start + distance : start + distance + TOKENS_AT_ONCE]
            left = ids[start : start + len(right)]
            together = (left >= 0) & (right >= 0)
            pairs = (left[together], right[together])
            total = total + coo_array((np.ones(len(pairs[0])), pairs), shape=(words, words)).tocsr()
    return csr_array(total + total.T)


def shifted_ppmi(counts: csr_array, shift: float) -> csr_array:
    """Return max(log(p(a,b) / (p(a) p(b))) - log(shift), 0) for each pair."""
    cells = counts.tocoo()
    sums = np.asarray(counts.sum(axis=1)).ravel()
    values = np.log(cells.data * sums.sum() / (sums[cells.row] * sums[cells.col])) - np.log(shift)
    positive = values > 0
    return coo_array((values[positive], (cells.row[positive], cells.col[positive])), shape=counts.shape).tocsr()


def factorise(matrix: csr_array, size: int, seed: int) -> Floats:
    """Return rows of U sqrt(S), each column with its largest value positive, strongest columns first."""
    start = numpy_rng(seed, "svd").normal(size=min(matrix.shape))
    left, strengths, _ = svds(matrix, k=size, v0=start, tol=1e-10)
    order = np.argsort(-strengths, kind="stable")
    vectors = left[:, order] * np.sqrt(strengths[order])
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(size)])
    signs[signs == 0] = 1
    rounded: Floats = np.round(vectors * signs, DECIMALS) + 0.0  # no negative zero
    return rounded


def word_splitter(words: Iterable[str], spaces: bool) -> Splitter:
    """Return a function from text to lower-cased words: at spaces and punctuation, or the longest known word first."""
    longest_first = sorted({word.lower() for word in words}, key=lambda word: (-len(word), word))
    known = "|".join(re.escape(word) for word in longest_first)
    pattern = re.compile(r"[^\W_]+|[^\w\s]" if spaces else rf"{known}|\d+|[^\W\d_]|[^\w\s]")
    return lambda text: pattern.findall(text.lower())
