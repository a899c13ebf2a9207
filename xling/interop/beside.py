"""What lies beside a model in the folder of its study: its vocabulary, its tokenisers and parallel sentences.

A study keeps a model in models/NAME, and beside models/ the folders vocab/, tokenisers/ and parallel/.
"""

from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.core.records import nearest


def refuse_misspelt(folder: Path) -> None:
    """Refuse a folder that does not exist if the name of a model beside it looks like its own."""
    if folder.exists() or not folder.parent.is_dir():
        return
    models = [path.parent.name for name in ("model.json", "config.json") for path in folder.parent.glob(f"*/{name}")]
    if (hint := nearest(folder.name, models)).startswith("did you mean"):
        raise InputError(folder, "no such folder", fix=hint)


def vocabulary_of(model: Path) -> Path:
    """Return the folder of the vocabulary that a model of a study was trained with, as its run.json names it."""
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
    """Return the file that says how the study of a model tokenises a language."""
    return _found(model, f"tokenisers/{code}.json", "name it with --tokeniser")


def sentences_of(model: Path, code: str) -> Path:
    """Return the study's parallel sentences in a language, tokenised."""
    return _found(model, f"parallel/{code}.txt", "name sentences with --parallel")


def _found(model: Path, name: str, otherwise: str) -> Path:
    path = model.absolute().parents[1] / name
    if not path.is_file():
        raise InputError(
            path, "no such file beside the model", fix=f"{otherwise}; or let snakemake make it, if the study has it"
        )
    return path
