"""A model that xling trained, with the files of its study that belong to it.

The folder of a study has models in models/NAME, and the folders vocab/, tokenisers/ and parallel/ beside models/.
"""

from pathlib import Path
from typing import Any, NamedTuple

from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError
from xling.core.io import read_json
from xling.core.records import nearest
from xling.model.encoder import Encoder
from xling.model.files import load_encoder

NAME_VOCABULARY = "name the vocabulary with xling export --vocab"


class Trained(NamedTuple):
    """A trained model: positions of the encoder beyond the longest input (in tokens) were never trained."""

    encoder: Encoder
    vocabulary: Vocabulary
    longest: int


def open_trained(model: Path, vocab: Path | None = None) -> Trained:
    """Open a model with its vocabulary, by default the one in its study."""
    check_model(model)
    encoder, folder = load_encoder(model), vocab or vocabulary_of(model)
    config, vocabulary, fix = encoder.config, Vocabulary.load(folder), "name the model's own vocabulary"
    for code, size in zip(config.languages, config.sizes, strict=True):
        if code not in vocabulary.languages:
            raise InputError(folder, f"no language {code!r}, which the model has", fix=fix)
        if vocabulary.size_of(code) != size:
            raise InputError(folder, f"{vocabulary.size_of(code)} ids for {code}, but the model has {size}", fix=fix)
    length = read_beside(model, "run.json").get("pretrain", {}).get("length", config.shape.positions)
    return Trained(encoder, vocabulary, int(min(config.shape.positions, length)))


def check_model(model: Path) -> None:
    """Raise an error if a path is not the folder of a trained model."""
    refuse_misspelt(model)
    for name in ("model.json", "model.safetensors"):
        if not (model / name).is_file():
            problem = f"no {name} in it" if model.exists() else "no such folder"
            raise InputError(model, problem, fix="expected the folder of a model trained by xling")


def refuse_misspelt(folder: Path) -> None:
    """Raise an error if a folder does not exist but there is a model with a similar name beside it."""
    if folder.exists() or not folder.parent.is_dir():
        return
    models = [path.parent.name for name in ("model.json", "config.json") for path in folder.parent.glob(f"*/{name}")]
    if (hint := nearest(folder.name, models)).startswith("did you mean"):
        raise InputError(folder, "no such folder", fix=hint)


def vocabulary_of(model: Path) -> Path:
    """Return the folder of the vocabulary that a model was trained with, according to its run.json."""
    run = read_beside(model, "run.json")
    try:
        codes, made = run["languages"], run["made_from"]
        name = f"{'-'.join(codes)}.{made['vocabulary']['kind']}.{made['corpus'][codes[-1]]['domain']}"
    except KeyError as error:
        problem = f"no {error} in it, which says what vocabulary the model has" if run else "no such file"
        raise InputError(model / "run.json", problem, fix=NAME_VOCABULARY) from None
    return in_study(model, f"vocab/{name}/vocab.json", NAME_VOCABULARY).parent


def tokeniser_of(model: Path, code: str) -> Path:
    """Return the file with the tokeniser options of a language in the study of a model."""
    return in_study(model, f"tokenisers/{code}.json", "name it with xling export --tokeniser")


def in_study(model: Path, name: str, otherwise: str) -> Path:
    """Return a file of the study that a model belongs to; the error for a missing file also suggests `otherwise`."""
    path = model.absolute().parents[1] / name
    if not path.is_file():
        fix = f"{otherwise}; or let snakemake make it, if the study has it"
        raise InputError(path, "no such file beside the model", fix=fix)
    return path


def read_beside(model: Path, name: str) -> dict[str, Any]:
    """Return the content of a JSON file in the folder of a model, or {} if the model came without it."""
    return dict(read_json(model / name)) if (model / name).is_file() else {}
