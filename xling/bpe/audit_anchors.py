"""Anchor audit: which pieces, and which share of running tokens, two languages have in common (section 4.2).

A piece (subword) is shared if both languages look up the same embedding for it. A joint vocabulary shares all pieces,
so the text decides: a shared piece is an anchor if the texts of both languages use it. Special tokens are excluded.

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
from xling.core.errors import XlingError, run
from xling.core.io import write_json
from xling.core.log import log_to_stderr

TOP = 50


def shared_ids(vocabulary: Vocabulary) -> NDArray[np.int64]:
    """Return the ids for which both languages use the same embedding, without special tokens."""
    if vocabulary.kind == "separate":  # equal ids, but each language has its own embeddings
        return np.array([], dtype=np.int64)
    left, right = vocabulary.languages
    return np.intersect1d(vocabulary.own_ids(left), vocabulary.own_ids(right)).astype(np.int64)


def piece_names(vocabulary: Vocabulary) -> dict[int, str]:
    """Return the pieces of the first language by id; they include all shared pieces."""
    language = vocabulary.languages[0]
    return dict(zip(vocabulary.ids(language).tolist(), vocabulary.pieces(language), strict=True))


def audit(vocabulary: Vocabulary, counts: dict[str, NDArray[np.int64]]) -> dict[str, Any]:
    """Return statistics of the pieces that two languages share; `counts` holds the frequency of each id per language.

    The TOP strongest anchors are listed; the strength of a piece is the smaller of its two relative frequencies.
    """
    left, right = vocabulary.languages
    special = np.arange(vocabulary.size) < len(SPECIAL_TOKENS)
    counts = {language: np.where(special, 0, counts[language]) for language in (left, right)}
    common = shared_ids(vocabulary)
    used = common[(counts[left][common] > 0) & (counts[right][common] > 0)]
    running: dict[str, dict[str, float]] = {}
    for language, own in counts.items():
        tokens, shared = int(own.sum()), int(own[used].sum())
        running[language] = {"tokens": tokens, "shared": shared, "share": shared / tokens if tokens else 0.0}
    strength = np.minimum(*(own[used] / max(1, own.sum()) for own in counts.values()))
    best = used[np.lexsort((used, -strength))[:TOP]].tolist()
    names = piece_names(vocabulary)
    return {
        "kind": vocabulary.kind,
        "languages": [left, right],
        "pieces": {language: len(vocabulary.own_ids(language)) for language in (left, right)},
        "in_both_vocabularies": len(common),
        "used_by_both": len(used),
        "running_tokens": running,
        "mean_share": (running[left]["share"] + running[right]["share"]) / 2,
        "top": [{"piece": names[i], left: int(counts[left][i]), right: int(counts[right][i])} for i in best],
    }


def require_none(vocabulary: Vocabulary) -> None:
    """Raise an error that names some shared pieces if the languages share any besides special tokens."""
    common = shared_ids(vocabulary)
    if len(common):
        some = ", ".join(map(piece_names(vocabulary).__getitem__, common[:5].tolist()))
        raise XlingError(f"{len(common)} pieces shared in a {vocabulary.kind} vocabulary where none may be: {some}")


def main() -> None:
    """Audit one vocabulary on the training text of its languages."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--vocab", type=Path, required=True, help="vocabulary folder")
    parser.add_argument("--streams", action="append", default=[], help="LANGUAGE=token stream folder")
    parser.add_argument("--require-none", action="store_true", help="fail if anything but special tokens is shared")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    vocabulary, folders = Vocabulary.load(args.vocab), named_paths(args.streams, "--streams")
    if len(vocabulary.languages) != 2:
        raise XlingError(f"anchors need two languages, the vocabulary has {', '.join(vocabulary.languages)}")
    if sorted(folders) != sorted(vocabulary.languages):
        raise XlingError(f"give --streams once for each of {', '.join(vocabulary.languages)}")
    streams = {code: TokenStream(folder, "train", vocabulary.ids(code)) for code, folder in folders.items()}
    result = audit(vocabulary, {code: stream.counts(vocabulary.size) for code, stream in streams.items()})
    if args.require_none:
        require_none(vocabulary)
    write_json(args.out, result)
    log_to_stderr(__name__).info("%d shared pieces, mean share %.3f", result["used_by_both"], result["mean_share"])


if __name__ == "__main__":
    run(main)
