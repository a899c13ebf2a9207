"""Build a vocabulary of one or two languages from their sentencepiece models (kinds: see xling.bpe.vocabulary).

python -m xling.bpe.build_vocabulary --kind union --model en=en.model --model fr=fr.model --out vocab/
"""

import argparse
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from xling.bpe.train_bpe import SPECIAL_TOKENS
from xling.bpe.vocabulary import KINDS, Ids, pieces_of, read_model
from xling.core.cli import named_paths
from xling.core.errors import XlingError, run
from xling.core.io import atomic_path, sha256_of, write_json, write_text
from xling.core.log import log_to_stderr


def assign_ids(kind: str, pieces: dict[str, list[str]]) -> tuple[dict[str, Ids], int, list[str]]:
    """Return the ids of each language, the size of the id space and the names of all entries in order."""
    if kind == "separate":
        ids = {language: np.arange(len(own), dtype=np.int32) for language, own in pieces.items()}
        return ids, max(map(len, pieces.values())), [piece for own in pieces.values() for piece in own]
    ids, numbers = {}, dict[str, int]()
    for language, own in pieces.items():  # in a joint vocabulary, both languages have the same pieces
        prefix = f"{language}:" if kind == "prefixed" else ""
        names = [*own[: len(SPECIAL_TOKENS)], *(prefix + piece for piece in own[len(SPECIAL_TOKENS) :])]
        ids[language] = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int32)
    return ids, len(numbers), list(numbers)


def write_vocabulary(kind: str, models: dict[str, Path], out: Path) -> dict[str, Any]:
    """Write a vocabulary directory, with vocab.json last, and return the content of vocab.json."""
    expected = 1 if kind == "mono" else 2
    if len(models) != expected:
        raise XlingError(f"a {kind} vocabulary has {expected} language(s), {len(models)} given: {', '.join(models)}")
    if kind == "joint" and len({sha256_of(path) for path in models.values()}) > 1:
        raise XlingError("a joint vocabulary has one model for both languages, two different ones given")
    ids, size, names = assign_ids(kind, {code: pieces_of(read_model(path)) for code, path in models.items()})
    parts: dict[str, Any] = {}
    for language, path in models.items():
        model = "joint.model" if kind == "joint" else f"{language}.model"
        parts[language] = {"model": model, "ids": f"{language}.ids.npy", "size": len(ids[language])}
        with atomic_path(out / model, sealed=True) as temporary:
            temporary.write_bytes(path.read_bytes())
        np.save(array := BytesIO(), ids[language])  # in memory: on a full disk numpy's error lacks the cause
        with atomic_path(out / parts[language]["ids"], sealed=True) as temporary:
            temporary.write_bytes(array.getvalue())
    with write_text(out / "pieces.txt", sealed=True) as text:
        text.writelines(f"{name}\n" for name in names)
    described = {"kind": kind, "languages": parts, "size": size, "pieces": "pieces.txt"}
    write_json(out / "vocab.json", described)
    return described


def main() -> None:
    """Build one vocabulary."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--model", action="append", required=True, help="LANGUAGE=sentencepiece model")
    parser.add_argument("--out", type=Path, required=True, help="folder")
    args = parser.parse_args()
    described = write_vocabulary(args.kind, named_paths(args.model, "--model"), args.out)
    log_to_stderr(__name__).info("%s vocabulary of %d entries in %s", args.kind, described["size"], args.out)


if __name__ == "__main__":
    run(main)
