"""The result records that tables, figures and claims are made from, and their files.

A file holds one kind of record and is named after the figure that shows it: figure3, figure4a, figure4b, figure5,
figure6, figure7 or figure8, as .csv (columns are the fields) or .json (a list, or an object whose `records` is one).
Scores, P@1, floors and chance are points from 0 to 100; CKA is from 0 to 1. An empty `low` and `high` mean that no
interval is known. The second English model is written en'. `xling.report.record_files` reads and writes them.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

MLM_ALIGN, BI_MLM, BI_MLM_ALIGN = "MLM align", "biMLM", "biMLM align"
BILINGUAL, MONOLINGUAL, RANDOM = CKA_MODELS = ("bilingual", "monolingual", "random")
BERT, FASTTEXT, UNTRAINED = "BERT", "fastText", "untrained"
AVERAGE = "AVER"


@dataclass(frozen=True)
class Cell:
    """Table 1, Figure 3: zero-shot score of a setting (by its label), with the score of the untrained encoder."""

    KEY: ClassVar = ("setting", "task", "language")
    setting: str
    task: str
    language: str
    score: float
    floor: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Examples:
    """How many examples a task had: of the source language to train on and to choose by, and in a language's test."""

    KEY: ClassVar = ("task", "language")
    task: str
    language: str
    train: int
    dev: int
    test: int


@dataclass(frozen=True)
class WordScore:
    """Figures 4a, 4b: word translation from English; in 4b contextual vectors have a layer, fastText has none."""

    KEY: ClassVar = ("language", "vectors", "layer")
    CHOICES: ClassVar = {"vectors": (BERT, FASTTEXT, UNTRAINED)}
    language: str
    vectors: str
    p1: float
    chance: float
    layer: int | None = None
    low: float | None = None
    high: float | None = None
    pairs: int | None = None  # how many pairs of the dictionary could be asked


@dataclass(frozen=True)
class ContextualScore:
    """Figures 5, 8: transfer through the first `layer` layers; the floor is the untrained encoder's score."""

    KEY: ClassVar = ("task", "language", "series", "layer")
    CHOICES: ClassVar = {"series": (MLM_ALIGN, BI_MLM, BI_MLM_ALIGN)}
    task: str
    language: str
    series: str
    layer: int
    score: float
    floor: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class SentenceScore:
    """Figure 6: retrieval of the other language's sentence after mapping, in one direction (en-x or x-en)."""

    KEY: ClassVar = ("language", "model", "direction", "layer")
    CHOICES: ClassVar = {"model": (MONOLINGUAL, UNTRAINED), "direction": ("en-x", "x-en")}
    language: str
    model: str
    direction: str
    layer: int
    p1: float
    chance: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class CkaScore:
    """Figure 7: similarity of two encoders at a layer (L0, L1, …, or AVER for a printed average)."""

    KEY: ClassVar = ("layer", "pair", "model")
    CHOICES: ClassVar = {"layer": (*(f"L{number}" for number in range(100)), AVERAGE), "model": CKA_MODELS}
    layer: str
    pair: str
    model: str
    cka: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Setting:
    """A row of Table 1: what a model is. A dash means as in Default."""

    KEY: ClassVar = ("setting",)
    setting: str
    group: str
    domain: str
    merges: str
    anchors: str
    share: str
    softmax: str


@dataclass(frozen=True)
class Results:
    """Everything a study has measured, by figure; what is empty was not run."""

    figure3: tuple[Cell, ...] = ()
    figure4a: tuple[WordScore, ...] = ()
    figure4b: tuple[WordScore, ...] = ()
    figure5: tuple[ContextualScore, ...] = ()
    figure6: tuple[SentenceScore, ...] = ()
    figure7: tuple[CkaScore, ...] = ()
    figure8: tuple[ContextualScore, ...] = ()
    paper_scale: bool = False


KINDS: dict[str, type[Any]] = {
    "figure3": Cell,
    "figure4a": WordScore,
    "figure4b": WordScore,
    "figure5": ContextualScore,
    "figure6": SentenceScore,
    "figure7": CkaScore,
    "figure8": ContextualScore,
}
