"""Find the vocabulary, the tokenisers and the parallel sentences of a model in the folder of its study.

The folder of a study has models in models/NAME, and the folders vocab/, tokenisers/ and parallel/ beside models/.
"""

from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.core.records import nearest


def refuse_misspelt(folder: Path) -> None:
    """Raise an error if a folder does not exist but there is a model with a similar name beside it."""
    if folder.exists() or not folder.parent.is_dir():
        return
    models = [path.parent.name for name in ("model.json", "config.json") for path in folder.parent.glob(f"*/{name}")]
    if (hint := nearest(folder.name, models)).startswith("did you mean"):
        raise InputError(folder, "no such folder", fix=hint)


def vocabulary_of(model: Path) -> Path:
    """Return the folder of the vocabulary that a model was trained with, according to its run.json."""
    path = model / "run.json"
    run: dict[str, Any] = read_json(path) if path.is_file() else {}
    try:
        codes, made = run["languages"], run["made_from"]
        name = f"{'-'.join(codes)}.{made['vocabulary']['kind']}.{made['corpus'][codes[-1]]['domain']}"
    except KeyError as error:
        problem = f"no {error} in it, which says what vocabulary the model has" if run else "no such file"
        raise InputError(path, problem, fix="name the vocabulary with --vocab") from None
    return _found(model, f"vocab/{name}/vocab.json", "name the vocabulary with --vocab").parent


def tokeniser_of(model: Path, code: str) -> Path:
    """Return the file with the tokeniser options of a language in the study of a model."""
    return _found(model, f"tokenisers/{code}.json", "name it with --tokeniser")


def sentences_of(model: Path, code: str) -> Path:
    """Return the file with the tokenised parallel sentences of the study in a language."""
    return _found(model, f"parallel/{code}.txt", "name sentences with --parallel")


def _found(model: Path, name: str, otherwise: str) -> Path:
    path = model.absolute().parents[1] / name
    if not path.is_file():
        raise InputError(
            path, "no such file beside the model", fix=f"{otherwise}; or let snakemake make it, if the study has it"
        )
    return path
