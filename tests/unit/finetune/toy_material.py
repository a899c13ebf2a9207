"""What a tuner is made from: a toy encoder, and a task's data in both toy languages."""

from functools import partial
from pathlib import Path

from toy_tasks import settings_json, write_set

from xling.bpe.vocabulary import Vocabulary
from xling.finetune.data import Example, read_examples
from xling.finetune.settings import parse_settings
from xling.finetune.task import Task
from xling.finetune.tasks import make_task
from xling.finetune.trainer import Material
from xling.finetune.windows import Speller
from xling.model.encoder import Encoder
from xling.model.files import load_encoder


def prepare(
    folder: Path, model: tuple[Path, Path], task: str = "pos"
) -> tuple[Encoder, Material, dict[str, list[Example]]]:
    """Return an encoder, the material of a task in English, and its examples by language."""
    settings, biaffine = parse_settings(settings_json(task))
    made: Task = make_task(task, biaffine)
    vocabulary = Vocabulary.load(model[0])
    sets = {}
    for code in ("en", "fr"):
        path = write_set(folder / f"{code}.jsonl", task, code, 30, 5)
        sets[code] = read_examples(path, partial(made.encode, speller=Speller(vocabulary, code, 24)))
    return load_encoder(model[1]), Material(made, settings, 0, 24, sets["en"], sets["en"], 3), sets
