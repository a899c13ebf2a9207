"""What an exported model's tokenizer reads: its vocabulary in a folder, and a description of its languages."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError
from xling.core.io import read_json, read_lines, write_json, write_text
from xling.model.config import ModelConfig
from xling.tokenization.options import check_options

VOCABULARY = "vocab"
DESCRIPTION = "xling_tokenizer.json"


def longest_text(model: Path, config: ModelConfig) -> int:
    """Return how many tokens a model has learnt to read: positions beyond the length of training are untrained."""
    run = read_json(model / "run.json") if (model / "run.json").is_file() else {}
    return int(min(config.shape.positions, run.get("pretrain", {}).get("length", config.shape.positions)))


def write_tokenizer_files(
    folder: Path,
    config: ModelConfig,
    languages: Sequence[str],
    vocab: Path,
    options: Mapping[str, dict[str, Any]],
    longest: int,
) -> None:
    """Write into a model's folder the vocabulary and how text of each language is tokenised, for XlingTokenizer."""
    check_vocabulary(config, Vocabulary.load(vocab), vocab)
    copy_vocabulary(vocab, folder / VOCABULARY, languages)
    described = {
        code: {"id": config.languages.index(code), "tokeniser": _portable(options.get(code), code, folder)}
        for code in languages
    }
    write_json(folder / DESCRIPTION, {"languages": described, "language_embeddings": config.speaks})
    chosen = {"language": languages[0]} if len(languages) == 1 else {}
    about = {"tokenizer_class": "XlingTokenizer", "model_max_length": longest}
    write_json(folder / "tokenizer_config.json", about | {"split_special_tokens": True} | chosen)


def check_vocabulary(config: ModelConfig, vocabulary: Vocabulary, folder: Path) -> None:
    """Refuse another model's vocabulary."""
    for code, size in zip(config.languages, config.sizes, strict=True):
        if code not in vocabulary.languages:
            raise InputError(
                folder, f"no language {code!r}, which the model has", fix="name the model's own vocabulary"
            )
        if vocabulary.size_of(code) != size:
            found = vocabulary.size_of(code)
            raise InputError(folder, f"{found} ids for {code}, but the model has {size}", fix="name the model's own")


def copy_vocabulary(source: Path, target: Path, languages: Sequence[str]) -> None:
    """Copy a vocabulary; of separate ones only the languages asked for, since their ids mean different pieces."""
    described = read_json(source / "vocab.json")
    pieces = list(read_lines(source / described["pieces"]))
    if described["kind"] == "separate":
        described["languages"] = {code: described["languages"][code] for code in languages}
        described["size"] = max(part["size"] for part in described["languages"].values())
        vocabulary = Vocabulary.load(source)
        pieces = [piece for code in languages for piece in vocabulary.pieces(code)]
    target.mkdir(parents=True)
    for part in described["languages"].values():
        for name in (part["model"], part["ids"]):
            shutil.copyfile(source / name, target / name)
    with write_text(target / described["pieces"]) as handle:
        handle.writelines(f"{piece}\n" for piece in pieces)
    write_json(target / "vocab.json", described)


def _portable(options: dict[str, Any] | None, code: str, folder: Path) -> dict[str, Any] | None:
    """Return tokeniser options that hold on another machine: a word list is copied, a program's place left out."""
    if options is None:
        return None
    checked = asdict(check_options(options))
    if checked["dictionary"] is not None:
        name = f"{VOCABULARY}/{code}.dictionary.txt"
        shutil.copyfile(checked["dictionary"], folder / name)
        checked["dictionary"] = name
    return checked | {"stanford_home": None}
