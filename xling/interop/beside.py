"""Find the vocabulary, the tokenisers and the parallel sentences of a model in the folder of its study.

The folder of a study has models in models/NAME, and the folders vocab/, tokenisers/ and parallel/ beside models/.
"""

from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.core.records import nearest

NAME_VOCABULARY = "name the vocabulary with xling export --vocab"
NAME_TOKENISER = "name it with xling export --tokeniser"


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
        raise InputError(path, problem, fix=NAME_VOCABULARY) from None
    return in_study(model, f"vocab/{name}/vocab.json", NAME_VOCABULARY).parent


def in_study(model: Path, name: str, otherwise: str) -> Path:
    """Return a file of the study that a model belongs to; the error for a missing file also suggests `otherwise`."""
    path = model.absolute().parents[1] / name
    if not path.is_file():
        fix = f"{otherwise}; or let snakemake make it, if the study has it"
        raise InputError(path, "no such file beside the model", fix=fix)
    return path
