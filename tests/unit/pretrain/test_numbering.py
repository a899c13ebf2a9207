"""One segmentation, many numberings: what training reads equals a plain lookup of each piece in pieces.txt.

The oracle does without our encoder and our tables. It writes streams that hold the vocabulary's own ids; training from
these must be the same as training from the stored pieces, in every kind of vocabulary.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from sentencepiece import SentencePieceProcessor
from tiny_models import made_up, write_vocab
from toy_runs import read, separated

from xling.bpe import encode_text
from xling.bpe.streams import END, TokenStream, TokenStreamWriter, pack
from xling.bpe.vocabulary import read_parts
from xling.core.io import read_json, write_text
from xling.pretrain.batches import Batches
from xling.pretrain.run import vocabulary_sizes
from xling.pretrain.validate import Validation

LINES = {
    code: [f"{a} . {b} ." for a, b in zip(made_up(code, 200), made_up(code, 200, 2), strict=True)]
    for code in ("en", "fr")
}
# The last line holds words of the other language and of none.
TEXTS = {code: [*lines, f"{LINES['fr'][0]} ☃ . {LINES['en'][0]}"] for code, lines in LINES.items()}


def by_lookup(vocab: Path, kind: str, code: str, line: str) -> list[int]:
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
def test_training_reads_the_ids_of_a_plain_lookup(kind: str, tmp_path: Path, call: Callable[..., Any]) -> None:
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
        held = [Validation(run, stored, tables), Validation(run, plain, {})]
        assert held[0].entropy == held[1].entropy
        for left, right in zip(*(side.batches for side in held), strict=True):
            assert all(torch.equal(a.packed, b.packed) for a, b in zip(left, right, strict=True))
