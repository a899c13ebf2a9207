"""A tiny encoder of one language with its vocabulary, and text for it."""

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

from xling.bpe.build_vocabulary import write_vocabulary
from xling.bpe.train_bpe import fit
from xling.bpe.vocabulary import Vocabulary
from xling.core.seeds import python_rng
from xling.model.encoder import Encoder
from xling.model.files import save_encoder
from xling.pretrain.config import read_run

WORDS = ["the", "cat", "horse", "river", "table", "sees", "eats", "likes", "paris", "tom", "not", "."]
RUN: dict[str, Any] = {
    "model": "en.mono.s1", "languages": ["en"], "selection_language": "en", "seed": 1,
    "shape": {
        "layers": 2, "width": 16, "heads": 2, "feedforward": 32, "activation": "relu", "dropout": 0.1,
        "attention_dropout": 0.1, "norm": "pre", "norm_eps": 1e-12, "positions": 16, "language_embeddings": True,
    },
    "separate": {"embeddings": False, "layers": 0},
    "softmax": "shared",
    "pretrain": {
        "sequences": "lines", "length": 12, "micro_batch_tokens": 128, "micro_batches": 2, "updates": 4,
        "language_exponent": 0.7, "mask_rate": 0.3, "mask_share": 0.8, "random_share": 0.1,
        "random_words": "language", "lr": 3e-3, "warmup": 1, "warmup_from": 1e-7, "schedule": "linear",
        "final_lr_share": 0.0, "betas": [0.9, 0.98], "eps": 1e-6, "weight_decay": 0.01, "clip": 1.0,
        "precision": "float32", "validate_every": 4, "validation_tokens": 200, "save_every": 4, "keep_checkpoints": 1,
    },
}  # fmt: skip


def write_model(folder: Path, norm: str = "pre", seed: int = 5) -> tuple[Path, Path]:
    """Write a vocabulary, in which some words are one subword, and an encoder; return their folders."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "en.model").write_bytes(fit(Counter(dict.fromkeys(WORDS, 10)), 25))
    write_vocabulary("mono", {"en": folder / "en.model"}, folder / "vocab")
    described = copy.deepcopy(RUN)
    described["shape"]["norm"] = norm
    (folder / "encoder").mkdir(exist_ok=True)
    path = folder / "encoder" / "run.json"
    path.write_text(json.dumps(described))
    config = read_run(path).model_config({"en": Vocabulary.load(folder / "vocab").size_of("en")}, path)
    save_encoder(Encoder(config, seed), folder / "encoder")
    return folder / "vocab", folder / "encoder"


def made_up_lines(count: int, seed: int = 1) -> list[str]:
    """Return lines of very different length, some longer than the encoder reads, none empty."""
    rng = python_rng("toy lines", seed)
    return [" ".join(rng.choices(WORDS, weights=range(1, 13), k=rng.randrange(1, 15))) for _ in range(count)]
