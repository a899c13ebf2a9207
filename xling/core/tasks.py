"""The tasks that models are fine-tuned for (section 3.2 of the paper): what every stage calls them."""

from typing import Literal, NamedTuple

TaskName = Literal["xnli", "ner", "parsing", "pos"]


class TaskInfo(NamedTuple):
    """A task's title and the short name of its score for tables and figures, and the kind of data it is trained on."""

    title: str
    score: str
    data: str


TASKS: dict[str, TaskInfo] = {
    "xnli": TaskInfo("XNLI", "Acc", "nli"),
    "ner": TaskInfo("NER", "F1", "ner"),
    "parsing": TaskInfo("Parsing", "LAS", "parsing"),
    "pos": TaskInfo("POS", "Acc", "parsing"),
}
