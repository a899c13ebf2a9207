"""Parts of speech: the 17 universal ones. Not in the paper; a cheap fourth task on the treebanks of parsing."""

from xling.data.conllu import UPOS
from xling.finetune.tagging import Tagging


class Pos(Tagging):
    """Tagging with universal parts of speech."""

    def __init__(self) -> None:
        super().__init__("pos", "upos", sorted(UPOS))
