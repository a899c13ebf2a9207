"""Anchor audit: which pieces, and which share of running tokens, two languages have in common (section 4.2).

A piece is shared where both languages look up the same embedding. Under a joint vocabulary any piece may be, so what
counts there is the running text: a piece is an anchor when both languages use it. Special tokens are left out.

python -m xling.bpe.audit_anchors --vocab vocab/ --streams en=en/ --streams fr=fr/ --out anchors.json [--require-none]
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xling.bpe.streams import TokenStream
from xling.bpe.train_bpe import SPECIAL_TOKENS
from xling.bpe.vocabulary import Vocabulary
from xling.core.cli import named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.io import write_json
from xling.core.log import log_to_stderr

Counts = NDArray[np.int64]
TOP = 50
BLOCK = 1 << 22  # ids read at a time


def audit(vocabulary: Vocabulary, counts: dict[str, Counts]) -> dict[str, Any]:
    """Return what two languages share; `counts` holds how often each language's text uses each id."""
    left, right = vocabulary.languages
    ours = {language: own_counts(vocabulary, language, counts[language]) for language in (left, right)}
    common = shared_ids(vocabulary)
    used = common[(ours[left][common] > 0) & (ours[right][common] > 0)]
    running: dict[str, dict[str, float]] = {}
    for language in (left, right):
        tokens, shared = int(ours[language].sum()), int(ours[language][used].sum())
        running[language] = {"tokens": tokens, "shared": shared, "share": shared / tokens if tokens else 0.0}
    return {
        "kind": vocabulary.kind,
        "languages": [left, right],
        "pieces": {language: len(vocabulary.own_ids(language)) for language in (left, right)},
        "in_both_vocabularies": len(common),
        "used_by_both": len(used),
        "running_tokens": running,
        "mean_share": (running[left]["share"] + running[right]["share"]) / 2,
        "top": top_shared(vocabulary, ours, used),
    }


def shared_ids(vocabulary: Vocabulary) -> NDArray[np.int64]:
    """Return the ids that mean the same embedding in both languages, without special tokens."""
    if vocabulary.kind == "separate":  # equal ids, but each language has its own embeddings
        return np.array([], dtype=np.int64)
    left, right = vocabulary.languages
    return np.intersect1d(vocabulary.own_ids(left), vocabulary.own_ids(right)).astype(np.int64)


def own_counts(vocabulary: Vocabulary, language: str, counts: Counts) -> Counts:
    """Return the counts without special tokens, padded to the vocabulary; foreign ids are refused."""
    if len(counts) > vocabulary.size:
        raise XlingError(f"{language}: id {len(counts) - 1} is outside the vocabulary of {vocabulary.size}")
    ours = np.zeros(vocabulary.size, dtype=np.int64)
    ours[: len(counts)] = counts
    ours[: len(SPECIAL_TOKENS)] = 0
    foreign = np.setdiff1d(np.flatnonzero(ours), vocabulary.own_ids(language))
    if len(foreign):
        raise XlingError(f"{language}: its text holds id {foreign[0]}, which is no piece of {language}'s vocabulary")
    return ours


def top_shared(vocabulary: Vocabulary, counts: dict[str, Counts], used: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return the strongest anchors: pieces by the smaller of their two relative frequencies."""
    left, right = vocabulary.languages
    relative = {language: counts[language] / max(1, counts[language].sum()) for language in (left, right)}
    strength = np.minimum(relative[left][used], relative[right][used])
    best = used[np.lexsort((used, -strength))[:TOP]]
    names = piece_names(vocabulary)
    return [{"piece": names[i], left: int(counts[left][i]), right: int(counts[right][i])} for i in best.tolist()]


def piece_names(vocabulary: Vocabulary) -> dict[int, str]:
    """Return the first language's pieces by id: shared ones are among them."""
    language = vocabulary.languages[0]
    return dict(zip(vocabulary.ids(language).tolist(), vocabulary.pieces(language), strict=True))


def count_stream(directory: Path) -> Counts:
    """Count the ids of a token stream's training split, block by block."""
    stream = TokenStream(directory, "train")
    counts = np.zeros(int(stream.meta["vocab_size"]), dtype=np.int64)
    for start in range(0, len(stream.ids), BLOCK):
        block = np.bincount(stream.ids[start : start + BLOCK])
        if len(block) > len(counts):
            raise InputError(directory / "train.bin", f"id {len(block) - 1} in a vocabulary of {len(counts)}")
        counts[: len(block)] += block
    return counts


def require_none(vocabulary: Vocabulary) -> None:
    """Fail, naming pieces, if the languages share anything besides special tokens."""
    common = shared_ids(vocabulary)
    if len(common):
        some = ", ".join(map(piece_names(vocabulary).__getitem__, common[:5].tolist()))
        raise XlingError(f"{len(common)} pieces shared in a {vocabulary.kind} vocabulary where none may be: {some}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--vocab", type=Path, required=True, help="vocabulary folder")
    parser.add_argument("--streams", action="append", default=[], help="LANGUAGE=token stream folder")
    parser.add_argument("--require-none", action="store_true", help="fail if anything but special tokens is shared")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    vocabulary = Vocabulary.load(args.vocab)
    streams = named_paths(args.streams, "--streams")
    if len(vocabulary.languages) != 2:
        raise XlingError(f"anchors need two languages, the vocabulary has {', '.join(vocabulary.languages)}")
    if sorted(streams) != sorted(vocabulary.languages):
        raise XlingError(f"give --streams once for each of {', '.join(vocabulary.languages)}")
    result = audit(vocabulary, {language: count_stream(path) for language, path in streams.items()})
    if args.require_none:
        require_none(vocabulary)
    write_json(args.out, result)
    log_to_stderr(__name__).info("%d shared pieces, mean share %.3f", result["used_by_both"], result["mean_share"])


if __name__ == "__main__":
    run(main)
