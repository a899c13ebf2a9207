"""A tiny encoder of one language with its vocabulary, and text for it."""

import copy
import json
from collections import Counter
from pathlib import Path

from unit.finetune.toy_tasks import RUN

from xling.bpe.build_vocabulary import write_vocabulary
from xling.bpe.train_bpe import fit
from xling.bpe.vocabulary import Vocabulary
from xling.core.seeds import python_rng
from xling.model.encoder import Encoder
from xling.model.files import save_encoder
from xling.pretrain.config import read_run

WORDS = ["the", "cat", "horse", "river", "table", "sees", "eats", "likes", "paris", "tom", "not", "."]


def write_model(folder: Path, norm: str = "pre", seed: int = 5) -> tuple[Path, Path]:
    """Write a vocabulary, in which some words are one subword, and an encoder; return their folders."""
    (folder / "encoder").mkdir(parents=True, exist_ok=True)
    (folder / "en.model").write_bytes(fit(Counter(dict.fromkeys(WORDS, 10)), 25))
    write_vocabulary("mono", {"en": folder / "en.model"}, folder / "vocab")
    described = copy.deepcopy(RUN) | {"model": "en.mono.s1", "languages": ["en"], "selection_language": "en"}
    described["shape"] |= {"norm": norm, "positions": 16}
    described["pretrain"]["length"] = 12
    path = folder / "encoder" / "run.json"
    path.write_text(json.dumps(described))
    config = read_run(path).model_config({"en": Vocabulary.load(folder / "vocab").size_of("en")}, path)
    save_encoder(Encoder(config, seed), folder / "encoder")
    return folder / "vocab", folder / "encoder"


def made_up_lines(count: int, seed: int = 1) -> list[str]:
    """Return lines of very different length, some longer than the encoder reads, none empty."""
    rng = python_rng("toy lines", seed)
    return [" ".join(rng.choices(WORDS, weights=range(1, 13), k=rng.randrange(1, 15))) for _ in range(count)]
