"""Write a model as folders that Hugging Face's transformers loads without remote code.

xling export MODEL --to hf --vocab DIR --out DIR [--tokeniser en='{"language": "en", "moses": "en"}' …] [--licence MIT]

Post-LayerNorm becomes XLM, pre-LayerNorm Flaubert with pre_norm. Where languages have parts of their own, each has a
folder below --out. Beside the weights: the vocabulary, what XlingTokenizer needs, and a card made from the run's files.
"""

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from xling.core.cli import named
from xling.core.errors import InputError, XlingError, run
from xling.core.io import write_json, write_text
from xling.core.log import log_to_stderr
from xling.model.card import model_card
from xling.model.encoder import Encoder
from xling.model.files import load_encoder
from xling.model.hugging_face import hugging_face_config, hugging_face_weights, separate_folders
from xling.model.tokenizer_files import longest_text, write_tokenizer_files
from xling.tokenization.words import parse_options

Options = Mapping[str, dict[str, Any]]


def export(model: Path, vocab: Path, out: Path, options: Options, licence: str | None = None) -> list[Path]:
    """Write the folder of a model, or one a language, and return them; nothing is there before all is."""
    encoder = open_model(model)
    config = encoder.config
    unknown = sorted(set(options) - set(config.languages))
    if unknown:
        raise XlingError(f"--tokeniser {unknown[0]}: the model speaks {', '.join(config.languages)}")
    apart = separate_folders(config)
    names = [out / code for code in config.languages] if apart else [out]
    with whole_folder(out) as temporary:
        for number, name in enumerate(names):
            folder = temporary / name.relative_to(out)
            languages = (config.languages[number],) if apart else config.languages
            write_weights(folder, encoder, number)
            write_tokenizer_files(folder, config, languages, vocab, options, longest_text(model, config))
            with write_text(folder / "README.md") as handle:
                handle.write(model_card(config, number if apart else None, model, licence))
    return names


def open_model(folder: Path) -> Encoder:
    """Read a model's folder, or say that it is none."""
    for name in ("model.json", "model.safetensors"):
        if not (folder / name).is_file():
            raise InputError(folder, f"no {name} in it", fix="expected the folder of a model trained by xling")
    return load_encoder(folder)


def write_weights(folder: Path, encoder: Encoder, language: int) -> None:
    """Write config.json and model.safetensors of one language's way through the encoder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", hugging_face_config(encoder.config, language))
    weights = hugging_face_weights(encoder, language)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Give a temporary folder that becomes `out` when the block has succeeded; `out` must be new or empty."""
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


def read_options(values: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return tokeniser options given as CODE=JSON."""
    return {code: parse_options(text) for code, text in named(values, "--tokeniser", "CODE=JSON").items()}


def main(argv: Sequence[str] | None = None) -> None:
    """Export one model."""
    args = parse_args(argv)
    options = read_options(args.tokeniser)
    folders = export(args.model, args.vocab, args.out, options, args.licence)
    log = log_to_stderr(__name__)
    if not options:
        log.info("no --tokeniser: the exported tokenizer takes text whose words stand between spaces")
    for folder in folders:
        log.info("wrote %s", folder)


def parse_args(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="xling export", description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path, help="folder of a trained model (model.json, model.safetensors)")
    parser.add_argument("--to", choices=("hf",), default="hf", help="format: Hugging Face")
    parser.add_argument("--vocab", type=Path, required=True, help="folder of the model's vocabulary")
    parser.add_argument("--tokeniser", action="append", default=[], metavar="CODE=JSON", help="a language's options")
    parser.add_argument("--licence", help="of the weights, as their owner states it (an SPDX identifier)")
    parser.add_argument("--out", type=Path, required=True, help="folder, new or empty")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
