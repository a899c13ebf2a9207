"""A small vocabulary in the layout of the vocabulary stage, and text for it."""

import json
from pathlib import Path

import numpy as np
import sentencepiece

from xling.core.seeds import python_rng

SHIFT = 5  # model ids differ from sentencepiece's, as they do in a union of two vocabularies


def made_up_lines(number: int, seed: int = 1) -> list[str]:
    """Return lines of pronounceable words that follow Zipf's law roughly."""
    rng = python_rng("made up", seed)
    words = ["".join(rng.choice("bdfgklmnprst") + rng.choice("aeiouéя") for _ in range(1 + i % 4)) for i in range(2000)]
    return [" ".join(words[int(2000 ** rng.random()) - 1] for _ in range(rng.randrange(3, 25))) for _ in range(number)]


def write_vocabulary(folder: Path) -> Path:
    """Train a sentencepiece model and write the directory of a vocabulary of two languages."""
    folder.mkdir()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(made_up_lines(1500)), model_prefix=str(folder / "en"), model_type="bpe", vocab_size=400,
        pad_id=0, unk_id=1, eos_id=2, bos_id=-1, control_symbols=["<mask>"], minloglevel=2,
        normalization_rule_name="identity",
    )  # fmt: skip
    size = sentencepiece.SentencePieceProcessor(model_file=str(folder / "en.model")).get_piece_size()
    ids = np.arange(size, dtype=np.int32)
    np.save(folder / "en.ids.npy", np.where(ids < 4, ids, ids + SHIFT).astype(np.int32))
    about = {"kind": "union", "languages": {"en": {"model": "en.model", "ids": "en.ids.npy", "size": size}}}
    (folder / "vocab.json").write_text(json.dumps({**about, "size": size + SHIFT, "pieces": "pieces.txt"}))
    return folder
