"""Write a model as folders that Hugging Face's transformers library loads without remote code.

xling export MODEL [--out DIR] [--licence MIT] [--vocab DIR --tokeniser en=FILE …]

A model with post-LayerNorm becomes XLM, and one with pre-LayerNorm becomes Flaubert with pre_norm. If languages have
separate parameters, each language gets a folder below --out. A folder also has a tokenizer.json for each language and a
model card. The default vocabulary and tokenisers are those of the model's study.
"""

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from xling.bpe.train_bpe import SPECIAL_TOKENS
from xling.bpe.vocabulary import Vocabulary
from xling.core.cli import named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.io import read_json, write_json, write_text
from xling.core.log import log_to_stderr
from xling.interop.beside import NAME_TOKENISER, in_study, refuse_misspelt, vocabulary_of
from xling.interop.card import model_card
from xling.interop.fast_tokenizer import tokenizer_json
from xling.interop.hugging_face import hugging_face_config, hugging_face_weights, separate_folders
from xling.model.config import ModelConfig
from xling.model.files import load_encoder
from xling.tokenization.options import check_options
from xling.tokenization.tokeniser import read_options

FAST_TOKENIZER = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "model_input_names": ["input_ids", "attention_mask"],
    **dict(zip(("pad_token", "unk_token", "eos_token", "mask_token"), SPECIAL_TOKENS, strict=True)),
    **dict.fromkeys(("bos_token", "cls_token", "sep_token"), SPECIAL_TOKENS[2]),
}
Options = Mapping[str, dict[str, Any]]  # tokeniser options by language


def export(model: Path, vocab: Path, out: Path, options: Options, licence: str | None = None) -> list[Path]:
    """Write one folder, or one folder per language, and return the folders; they appear only when all are complete."""
    check_model(model)
    encoder = load_encoder(model)
    config = encoder.config
    for code in sorted(set(options) - set(config.languages)):
        raise XlingError(f"--tokeniser {code}: the model speaks {', '.join(config.languages)}")
    vocabulary = Vocabulary.load(vocab)
    check_vocabulary(config, vocabulary, vocab)
    longest, apart = longest_text(model, config), separate_folders(config)
    folders = [out / code for code in config.languages] if apart else [out]
    with whole_folder(out) as temporary:
        for number, final in enumerate(folders):
            folder = temporary / final.relative_to(out)
            folder.mkdir(exist_ok=True)
            write_json(folder / "config.json", hugging_face_config(config, number), sealed=False)
            weights = hugging_face_weights(encoder, number)
            save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
            (folder / "model.safetensors").chmod(0o644)  # save_file makes it readable for its owner only
            languages = (config.languages[number],) if apart else config.languages
            write_tokenizer(folder, languages, vocabulary, options, longest)
            segmented = [code for code in languages if options.get(code, {}).get("segmenter", "none") != "none"]
            with write_text(folder / "README.md") as handle:
                handle.write(model_card(config, number if apart else None, model, longest, licence, segmented))
    return folders


def check_model(model: Path) -> None:
    """Raise an error if a path is not the folder of a trained model."""
    refuse_misspelt(model)
    for name in ("model.json", "model.safetensors"):
        if not (model / name).is_file():
            problem = f"no {name} in it" if model.exists() else "no such folder"
            raise InputError(model, problem, fix="expected the folder of a model trained by xling")


def longest_text(model: Path, config: ModelConfig) -> int:
    """Return the longest input of a model in tokens: positions beyond the training length are untrained."""
    run = read_json(model / "run.json") if (model / "run.json").is_file() else {}
    return int(min(config.shape.positions, run.get("pretrain", {}).get("length", config.shape.positions)))


def check_vocabulary(config: ModelConfig, vocabulary: Vocabulary, folder: Path) -> None:
    """Raise an error if a vocabulary does not belong to the model."""
    fix = "name the model's own vocabulary"
    for code, size in zip(config.languages, config.sizes, strict=True):
        if code not in vocabulary.languages:
            raise InputError(folder, f"no language {code!r}, which the model has", fix=fix)
        if vocabulary.size_of(code) != size:
            raise InputError(folder, f"{vocabulary.size_of(code)} ids for {code}, but the model has {size}", fix=fix)


def write_tokenizer(
    folder: Path, languages: Sequence[str], vocabulary: Vocabulary, options: Options, longest: int
) -> None:
    """Write the tokenizer files into the folder of a model; if it has several languages, into one subfolder each.

    The tokenizer of the first language is also beside the weights.
    """
    for number, code in enumerate(languages):
        spelled = tokenizer_json(vocabulary, code, check_options(options[code]) if code in options else None)
        for place in [folder] * (number == 0) + [folder / code] * (len(languages) > 1):
            write_json(place / "tokenizer.json", spelled, sealed=False)
            write_json(place / "tokenizer_config.json", FAST_TOKENIZER | {"model_max_length": longest}, sealed=False)


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to `out` if the block succeeds; `out` must be new or empty."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(out, "exists already", fix="name a new folder or remove it")
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        yield temporary
        temporary.chmod(0o755)
        if out.exists():
            out.rmdir()
        temporary.rename(out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Export one model."""
    args = parse_args(argv)
    named = named_paths(args.tokeniser, "--tokeniser", "CODE=FILE")
    if args.vocab is None:
        check_model(args.model)
        languages = read_json(args.model / "model.json")["languages"]
        own = {code: f"tokenisers/{code}.json" for code in languages if code not in named}
        named |= {code: in_study(args.model, name, NAME_TOKENISER) for code, name in own.items()}
    options = {code: read_options(path) for code, path in named.items()}
    out = args.out or Path(f"{args.model.absolute().name}.hf")
    folders = export(args.model, args.vocab or vocabulary_of(args.model), out, options, args.licence)
    log = log_to_stderr(__name__)
    if not options:
        log.info("no --tokeniser: the exported tokenizer takes text whose words stand between spaces")
    for folder in folders:
        log.info("wrote %s: README.md shows how to load it", folder)


def parse_args(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="xling export", description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path, help="folder of a trained model (model.json, model.safetensors)")
    parser.add_argument("--vocab", type=Path, help="folder of the model's vocabulary (default: its study's)")
    parser.add_argument(
        "--tokeniser",
        action="append",
        default=[],
        metavar="CODE=FILE",
        help="a language's options, as JSON (default: its study's)",
    )
    parser.add_argument("--licence", help="of the weights, as their owner states it (an SPDX identifier)")
    parser.add_argument("--out", type=Path, help="folder, new or empty (default: MODEL's name with .hf, here)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
