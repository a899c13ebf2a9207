"""What each figure is called, what it shows in words, and where it stands on the page."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

FIGURES, TRAINING, ANCHORS = "figures", "training", "anchors"


@dataclass(frozen=True)
class Entry:
    """A figure, or a family of them by a pattern: its title, and its picture in words for those who cannot see it."""

    pattern: str
    section: str
    title: str
    alt: str
    folded: bool = False  # one of many, which a reader may open


ENTRIES = (
    Entry(
        "figure1",
        FIGURES,
        "Figure 1. What is shared",
        "Schematic drawing of the encoder under each setting: which embeddings, layers and softmax are shared.",
    ),
    Entry(
        "figure2",
        FIGURES,
        "Figure 2. What is compared",
        "Schematic drawing of two encoders side by side: which of their vectors, of words, of words in context and of "
        "sentences, are mapped or compared at which layers in Figures 4 to 7.",
    ),
    Entry(
        "figure3",
        FIGURES,
        "Figure 3. Zero-shot transfer under each setting",
        "Bars of zero-shot transfer scores, one panel for each task and language pair, one bar for each setting; "
        "the pale part of a bar is the untrained encoder, a dashed line is the level of Default.",
    ),
    Entry(
        "figure4a",
        FIGURES,
        "Figure 4a. Alignment of words without context",
        "Bars of word translation precision for each language: rows of the embedding matrix beside fastText vectors.",
    ),
    Entry(
        "figure4b",
        FIGURES,
        "Figure 4b. Alignment of words in context",
        "Lines of word translation precision against the layer, one for each language, with fastText for reference.",
    ),
    Entry(
        "figure5",
        FIGURES,
        "Figure 5. Transfer through aligned layers",
        "Lines of transfer score against the number of lower layers used: aligned monolingual models beside the "
        "bilingual model, one panel for each task and language.",
    ),
    Entry(
        "figure6",
        FIGURES,
        "Figure 6. Alignment of sentences",
        "Lines of sentence retrieval precision against the layer, one for each language pair.",
    ),
    Entry(
        "figure7",
        FIGURES,
        "Figure 7. Similarity of encoders",
        "Heat map of CKA similarity: rows are layers and their average, columns are language pairs, each with "
        "bilingual, monolingual and random encoders.",
    ),
    Entry(
        "figure8",
        FIGURES,
        "Figure 8. The bilingual model with and without alignment",
        "Lines of transfer score against the number of lower layers used: the bilingual model with and without the "
        "alignment step, one panel for each task and language.",
    ),
    Entry(
        "cka_matrix*",
        FIGURES,
        "Similarity of every two layers",
        "Heat map of CKA similarity between every layer of one encoder and every layer of another.",
    ),
    Entry(
        "training",
        TRAINING,
        "Training curves",
        "Curves of validation loss, as a share of the unigram entropy, against the number of updates: one panel for "
        "each setting, one line for each language.",
    ),
    Entry(
        "emergence*",
        TRAINING,
        "Emergence of cross-lingual structure",
        "Curves of sentence retrieval without a mapping and of CKA similarity against the number of updates: one "
        "panel for each setting, one line for each language pair.",
    ),
    Entry(
        "training/*",
        TRAINING,
        "Training of",
        "Curves of loss, learning rate, sentence retrieval and CKA similarity of a model against its updates.",
        folded=True,
    ),
    Entry(
        "anchors*",
        ANCHORS,
        "Anchors in the training text",
        "Bars of the share of running subwords that are anchors, which both languages use, for each setting and "
        "language pair; beside them how many different anchors there are.",
    ),
)


def entry_of(name: str) -> Entry:
    """Return what is known of a figure by its name below the folder; one nobody described stands with the figures."""
    known = next((entry for entry in ENTRIES if fnmatchcase(name, entry.pattern)), None)
    title = name.rsplit("/", 1)[-1].replace("_", " ")
    return known or Entry(name, FIGURES, title, f"Figure {title}.")


def in_page_order(name: str) -> tuple[int, str]:
    """Return a key that sorts figures as the page shows them."""
    patterns = [entry.pattern for entry in ENTRIES]
    pattern = entry_of(name).pattern
    return patterns.index(pattern) if pattern in patterns else len(patterns), name
