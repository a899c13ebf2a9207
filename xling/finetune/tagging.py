"""Labels of words: a linear layer and a softmax on the first subword of each word (section 3.2 of the paper).

All subwords of a batch are scored; only first subwords have a label, and only they are read.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from torch import Tensor, nn
from torch.nn import functional

from xling.core.stats import Measure
from xling.finetune.batches import Layout
from xling.finetune.data import Example, Labels, Record, labels_of, most_common, words_of
from xling.finetune.metrics import ACCURACY, RIGHT, count_right
from xling.finetune.task import IGNORED, Arrays, Outputs, Tensors
from xling.finetune.windows import Speller


class Tagging:
    """A label a word, scored by accuracy."""

    golds = 1
    columns: tuple[str, ...] = RIGHT
    measures: Mapping[str, Measure] = ACCURACY
    baseline = "every word has the training set's most common label"

    def __init__(self, name: str, key: str, labels: Sequence[str]) -> None:
        self.name, self.key, self.labels = name, key, tuple(labels)
        self.numbers = {label: number for number, label in enumerate(labels)}

    def encode(self, record: Record, speller: Speller) -> Example:
        """Return a sentence and the numbers of its labels."""
        words = words_of(record, "words")
        labels = labels_of(record, self.key, self.numbers, len(words))
        return Example(*speller.sentence(words), np.array(labels))

    def head(self, width: int) -> nn.Module:
        """Return the classifier."""
        return nn.Linear(width, len(self.labels))

    def places(self, layout: Layout) -> Arrays:  # noqa: ARG002 (of the protocol)
        """Return nothing: every place is scored."""
        return ()

    def gold(self, layout: Layout) -> Arrays:
        """Return labels (rows, length) that stand at first subwords only."""
        labels = np.full(layout.tokens.size, IGNORED, dtype=np.int64)
        for number, example in enumerate(layout.examples):
            labels[layout.flat(number)] = example.labels
        return (labels,)

    def loss(self, head: nn.Module, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:  # noqa: ARG002
        """Return the mean cross-entropy over words."""
        return functional.cross_entropy(head(states).flatten(0, 1), gold[0])

    def predict(self, head: nn.Module, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:  # noqa: ARG002
        """Return the likeliest label at every place."""
        return (head(states).argmax(dim=-1),)

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        """Return the labels of the words of each sentence."""
        found = outputs[0].reshape(-1)
        return [found[layout.flat(number)] for number in range(len(layout.examples))]

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return how many words are right, of how many."""
        return count_right(example.labels, prediction)

    def guess(self, train: Sequence[Example]) -> Callable[[Example], Labels]:
        """Return the most common label for every word."""
        label = most_common([example.labels for example in train], len(self.labels))
        return lambda example: np.full(len(example.labels), label)
