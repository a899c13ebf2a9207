"""The tasks by name."""

from collections.abc import Callable

from xling.core.errors import XlingError
from xling.finetune.ner import Ner
from xling.finetune.parsing import Parsing
from xling.finetune.pos import Pos
from xling.finetune.settings import WHERE, BiaffineSizes
from xling.finetune.task import Task
from xling.finetune.xnli import Xnli

NAMES = ("xnli", "ner", "parsing", "pos")


def make_task(name: str, biaffine: BiaffineSizes | None) -> Task:
    """Return a task; parsing alone needs the sizes of its parser."""
    if name == "parsing":
        if biaffine is None:
            raise XlingError(f"{WHERE}: no biaffine, which parsing needs")
        return Parsing(biaffine)
    simple: dict[str, Callable[[], Task]] = {"xnli": Xnli, "ner": Ner, "pos": Pos}
    return simple[name]()
