"""Named entities: BIO tags of words, repaired before they are scored as spans (section 3.2 of the paper)."""

from xling.data.ner import OUTSIDE, TYPES
from xling.finetune.data import Example, Labels
from xling.finetune.metrics import SPAN_SCORES, SPANS, count_spans
from xling.finetune.tagging import Tagging

TAGS = (OUTSIDE, *(f"{mark}-{kind}" for kind in TYPES for mark in "BI"))


class Ner(Tagging):
    """Tagging that is scored by the F1 of spans."""

    columns: tuple[str, ...] = SPANS
    measures = SPAN_SCORES

    def __init__(self) -> None:
        super().__init__("ner", "tags", TAGS)

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return the spans that are right, predicted and gold."""
        return count_spans(self._tags(example.labels), self._tags(prediction))

    def _tags(self, numbers: Labels) -> list[str]:
        return [TAGS[number] for number in numbers.tolist()]
