"""Write a model as folders that Hugging Face's transformers library loads without remote code.

xling export MODEL [--out DIR] [--licence MIT] [--vocab DIR --tokeniser en=FILE …]

A model with post-LayerNorm becomes XLM, and one with pre-LayerNorm becomes Flaubert with pre_norm. If languages have
separate parameters, each language gets a folder below --out. A folder also has a tokenizer.json for each language and a
model card. The default vocabulary and tokenisers are those of the model's study.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jinja2
from safetensors.torch import save_file

from xling.bpe.train_bpe import SPECIAL_TOKENS
from xling.bpe.vocabulary import Vocabulary
from xling.core.cli import named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.io import numbered_lines, read_json, write_json, write_text
from xling.core.log import log_to_stderr
from xling.interop.fast_tokenizer import tokenizer_json
from xling.interop.hugging_face import hugging_face_config, hugging_face_weights, separate_folders
from xling.interop.trained import check_model, open_trained, read_beside, tokeniser_of
from xling.model.config import ModelConfig
from xling.tokenization.options import check_options
from xling.tokenization.tokeniser import read_options

FAST_TOKENIZER = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "model_input_names": ["input_ids", "attention_mask"],
    **dict(zip(("pad_token", "unk_token", "eos_token", "mask_token"), SPECIAL_TOKENS, strict=True)),
    **dict.fromkeys(("bos_token", "cls_token", "sep_token"), SPECIAL_TOKENS[2]),
}
SEPARATED = {True: "the embeddings and the softmax", "tokens": "the token vectors and the softmax"}
Options = Mapping[str, dict[str, Any]]  # tokeniser options by language


def export(model: Path, vocab: Path | None, out: Path, options: Options, licence: str | None = None) -> list[Path]:
    """Write one folder, or one folder per language, and return the folders; they appear only when all are complete."""
    encoder, vocabulary, longest = open_trained(model, vocab)
    config, apart = encoder.config, separate_folders(encoder.config)
    for code in sorted(set(options) - set(config.languages)):
        raise XlingError(f"--tokeniser {code}: the model speaks {', '.join(config.languages)}")
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


def model_card(
    config: ModelConfig, language: int | None, model: Path, longest: int, licence: str | None, segmented: Sequence[str]
) -> str:
    """Return the README.md of a model, or of one of its languages, from the files of its training run.

    `segmented` lists the languages that need a word segmenter.
    """
    run, provenance = (read_beside(model, name) for name in ("run.json", "provenance.json"))
    own = [SEPARATED[config.separate.embeddings]] if config.separate.embeddings else []
    own += [f"the first {config.separate.layers} layers"] if config.separate.layers else []
    shape, made = config.shape, run.get("made_from", {})
    sizes = {
        "layers, width, heads, feed-forward": [shape.layers, shape.width, shape.heads, shape.feedforward],
        "LayerNorm": f"{shape.norm} (eps {shape.norm_eps})",
        "activation": shape.activation,
        "positions": shape.positions,
        "vocabulary": [f"{code} {size}" for code, size in zip(config.languages, config.sizes, strict=True)],
        "language embeddings": "yes" if config.has_language_embeddings else "no",
    }
    parts = {"vocabulary": made.get("vocabulary")} | {f"text of {c}": v for c, v in made.get("corpus", {}).items()}
    known = ((name, sorted(values.items())) for name, values in parts.items() if values)
    described = {name: [f"{key}: {str(value).lower()}" for key, value in values] for name, values in known}
    training = {"seed": run.get("seed", "not known")} | described | dict(sorted(run.get("pretrain", {}).items()))
    devices = sorted({str(attempt.get("device")) for attempt in provenance.get("attempts", [])})
    origin = {"commit": provenance.get("commit", "unknown"), "hardware": devices, "seconds": provenance.get("seconds")}
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    kept = {"keep_trailing_newline": True, "trim_blocks": True, "lstrip_blocks": True}
    return jinja2.Environment(loader=loader, **kept).get_template("card.md.j2").render(  # type: ignore[arg-type]  # noqa: S701 (Markdown)
        codes=config.languages if language is None else (config.languages[language],),
        apart=language is not None, own=own, config=config, longest=longest, licence=licence, folder=model.name,
        segmented=segmented, run=run, shape=sizes, made=training, last=_last_validation(model / "metrics.jsonl"),
        provenance=origin | provenance.get("versions", {}) if provenance else None,
    )  # fmt: skip


def _last_validation(metrics: Path) -> dict[str, Any] | None:
    """Return the last validation record in the metrics of a run; None if there is none."""
    last = None
    for number, line in numbered_lines(metrics) if metrics.is_file() else ():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            raise InputError(metrics, "not JSON", line=number) from None
        last = record if record.get("kind") == "validation" else last
    return last


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
        named = {code: tokeniser_of(args.model, code) for code in languages if code not in named} | named
    options = {code: read_options(path) for code, path in named.items()}
    out = args.out or Path(f"{args.model.absolute().name}.hf")
    folders = export(args.model, args.vocab, out, options, args.licence)
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
    options = "a language's options, as JSON (default: its study's)"
    parser.add_argument("--tokeniser", action="append", default=[], metavar="CODE=FILE", help=options)
    parser.add_argument("--licence", help="of the weights, as their owner states it (an SPDX identifier)")
    parser.add_argument("--out", type=Path, help="folder, new or empty (default: MODEL's name with .hf, here)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
