"""Word translation by the rules of MUSE (Figures 4a and 4b, section 5.1.1).

    python -m xling.align.words --source en.vec --target fr.vec --train en-fr.0-5000.txt --test en-fr.5000-6500.txt \\
        --out result.json

Vectors are fastText text files, or files of layer states with their words; of states every layer is evaluated.
Each side is normalised over its whole vocabulary, the map is fitted on the training pairs, translations are retrieved
by CSLS among all target words. Words are compared in lower case, the first of several spellings counts. Pairs with an
unknown word are left out and counted; a source word counts once, and is right when any of its translations is found.
"""

import argparse
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xling.align.csls import NEIGHBOURS, Places, csls_search, first_hits, precision_of
from xling.align.mapping import apply_map, procrustes
from xling.align.normalise import Matrix, fit_normaliser
from xling.align.states import read_states
from xling.core.errors import InputError, run
from xling.core.io import write_json
from xling.core.log import log_to_stderr
from xling.data.fasttext import read_vectors
from xling.data.muse import WordPair, read_muse
from xling.model.device import side_by_side

RANKS = (1, 5, 10)
LIMIT = 200_000  # vectors of fastText that are read (section 5.1.1 of the paper)
STATES = (".safetensors", ".npz")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Lower-cased words, each with its place among those kept, and the rows of the file they came from."""

    places: dict[str, int]
    rows: NDArray[np.int64]
    merged: int  # rows left out because another spelling of their word came before


@dataclass(frozen=True, slots=True)
class KnownPairs:
    """The pairs of a dictionary with both words known, as places, each once; and how many had an unknown word."""

    pairs: tuple[tuple[int, int], ...]
    given: int
    unknown_source: int
    unknown_target: int

    def by_source(self) -> dict[int, set[int]]:
        """Return the known translations of each source word."""
        found: dict[int, set[int]] = {}
        for source, target in self.pairs:
            found.setdefault(source, set()).add(target)
        return found

    def describe(self) -> dict[str, int]:
        """Return the counts that a result carries."""
        return {
            "pairs": self.given,
            "pairs_kept": len(self.pairs),
            "source_words_kept": len(self.by_source()),
            "unknown_source": self.unknown_source,
            "unknown_target": self.unknown_target,
        }


def fold_case(words: Sequence[str], allowed: Iterable[str] | None = None) -> Vocabulary:
    """Return the vocabulary of words in the order of a file, of the allowed ones only where some are named."""
    wanted = None if allowed is None else {word.lower() for word in allowed}
    rows: dict[str, int] = {}
    kept = 0
    for row, word in enumerate(words):
        if wanted is None or word.lower() in wanted:
            kept += 1
            rows.setdefault(word.lower(), row)
    places = {word: place for place, word in enumerate(rows)}
    return Vocabulary(places, np.fromiter(rows.values(), dtype=np.int64), kept - len(rows))


def known_pairs(pairs: Iterable[WordPair], source: Vocabulary, target: Vocabulary) -> KnownPairs:
    """Return the pairs of a dictionary whose words both have vectors."""
    found: dict[tuple[int, int], None] = {}
    folded = dict.fromkeys((pair.source.lower(), pair.target.lower()) for pair in pairs)
    unknown_source = unknown_target = 0
    for left, right in folded:
        unknown_source += left not in source.places
        unknown_target += right not in target.places
        if left in source.places and right in target.places:
            found[source.places[left], target.places[right]] = None
    return KnownPairs(tuple(found), len(folded), unknown_source, unknown_target)


def translate(source: Matrix, target: Matrix, train: KnownPairs, test: KnownPairs, device: str) -> dict[str, float]:
    """Return P@1, P@5 and P@10 of the test words after mapping the source space onto the target space."""
    return precision_of(translation_places(source, target, train, test, device), RANKS)


def translation_places(source: Matrix, target: Matrix, train: KnownPairs, test: KnownPairs, device: str) -> Places:
    """Return for each test word where its first translation is found after mapping the source space."""
    x, y = side_by_side(lambda side: fit_normaliser(side)[1], (source, target))
    left, right = np.array(train.pairs).T
    gold = test.by_source()
    mapped = apply_map(procrustes(x[left], y[right]), x)
    found = csls_search(mapped, y, min(max(RANKS), len(y)), np.array(list(gold)), device=device)
    return first_hits(found, list(gold.values()))


def chance(gold: Iterable[set[int]], targets: int) -> dict[str, float]:
    """Return the precision of guessing different target words at random."""
    sizes = [len(answers) for answers in gold]
    return {f"P@{rank}": float(np.mean([_lucky(size, rank, targets) for size in sizes])) for rank in RANKS}


def _lucky(gold: int, rank: int, targets: int) -> float:
    rank = min(rank, targets)
    return 1 - math.comb(targets - gold, rank) / math.comb(targets, rank)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a file and its layers."""

    words: Sequence[str]
    layers: list[int]
    matrix: Any  # layer -> Matrix


def open_words(path: Path, limit: int, layers: Sequence[int] | None) -> Words:
    """Open a file of vectors: layer states with their words, or fastText text as a single layer."""
    if path.suffix in STATES:
        states = read_states(path)
        if states.items is None:
            raise InputError(path, "states without a list of words", fix="write them with their items")
        return Words(states.items, list(range(states.layers) if layers is None else layers), states.read)
    table = read_vectors(path, limit)
    return Words(table.words, [0], lambda _: table.vectors)


def read_dictionary(path: Path, source: Vocabulary, target: Vocabulary) -> KnownPairs:
    """Read a dictionary; one without a pair of known words is refused."""
    return require_known(path, known_pairs(read_muse(path), source, target))


def require_known(path: Path, known: KnownPairs) -> KnownPairs:
    """Return the known pairs of a dictionary, or refuse it where there are none."""
    if not known.pairs:
        counts = f"{known.unknown_source} source and {known.unknown_target} target words are unknown"
        raise InputError(path, f"none of its {known.given} pairs has vectors on both sides ({counts})")
    return known


def evaluate(source: Words, target: Words, spaces: tuple[Vocabulary, Vocabulary], train: KnownPairs,
             test: KnownPairs, device: str) -> Iterator[tuple[str, dict[str, float]]]:  # fmt: skip
    """Yield each layer's name and its precision."""
    for left, right in zip(source.layers, target.layers, strict=True):
        x, y = source.matrix(left)[spaces[0].rows], target.matrix(right)[spaces[1].rows]
        yield f"L{left}", translate(x, y, train, test, device)


def main() -> None:
    """Evaluate the translation of words and write the result."""
    args = parse_args()
    log = log_to_stderr(__name__)
    source, target = (open_words(path, args.limit, args.layers) for path in (args.source, args.target))
    if len(source.layers) != len(target.layers):
        raise InputError(args.target, f"{len(target.layers)} layers, but {args.source} has {len(source.layers)}")
    limits = [path and open_words(path, args.limit, None).words for path in (args.source_words, args.target_words)]
    spaces = fold_case(source.words, limits[0]), fold_case(target.words, limits[1])
    train, test = (read_dictionary(path, *spaces) for path in (args.train, args.test))
    layers = {}
    for name, scores in evaluate(source, target, spaces, train, test, args.device):
        layers[name] = scores
        log.info("%s: P@1 %.4f over %d source words", name, scores["P@1"], len(test.by_source()))
    result = {
        "layers": layers,
        "chance": chance(test.by_source().values(), len(spaces[1].rows)),
        "train": train.describe(),
        "test": test.describe(),
        "source_words": len(spaces[0].rows),
        "target_words": len(spaces[1].rows),
        "spellings_merged": [space.merged for space in spaces],
        "neighbours": NEIGHBOURS,
        "config": args.config_hash,
    }
    write_json(args.out, result)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Word translation by MUSE's rules.")
    parser.add_argument("--source", type=Path, required=True, help="vectors: fastText text, or states with words")
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--source-words", type=Path, help="vectors whose words alone are kept of the source")
    parser.add_argument("--target-words", type=Path, help="vectors whose words alone are kept of the target")
    parser.add_argument("--train", type=Path, required=True, help="MUSE dictionary that the map is fitted on")
    parser.add_argument("--test", type=Path, required=True, help="MUSE dictionary that is evaluated")
    parser.add_argument("--layers", type=int, nargs="+", help="layers of states to evaluate (default: all)")
    parser.add_argument("--limit", type=int, default=LIMIT, help="fastText vectors to read")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--config-hash", default="", help="what the result belongs to")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
