"""What things are called: settings, tasks, languages and pairs, in the paper's order."""

from collections.abc import Iterable

DEFAULT, WIKI_CC = "Default", "Wiki-CC"
ANCHORS = NO_ANCHORS, DEFAULT_ANCHORS, EXTRA_ANCHORS = ("No anchors", "Default anchors", "Extra anchors")
SEP_EMB, SEP_3, SEP_6 = "Sep Emb", "Sep L1-3", "Sep L1-6"
SEP_EMB_3, SEP_EMB_6 = "Sep Emb + L1-3", "Sep Emb + L1-6"
SETTINGS = (DEFAULT, WIKI_CC, *ANCHORS, SEP_EMB, SEP_3, SEP_6, SEP_EMB_3, SEP_EMB_6)  # the rows of Table 1

TASKS = {"xnli": "XNLI", "ner": "NER", "parsing": "Parsing", "pos": "POS"}
METRICS = {"xnli": "Acc", "ner": "F1", "parsing": "LAS", "pos": "Acc"}

LANGUAGES = {"en": "English", "en'": "English′", "fr": "French", "de": "German", "ru": "Russian", "zh": "Chinese"}
OTHERS = ("fr", "de", "ru", "zh")  # the languages that English is compared with, near to far
PAIRS = ("en-en'", "en-fr", "en-de", "en-ru", "en-zh")  # near to far, the columns of Figure 7

MARGINS = ("low", "high", "floor")  # what stands around a score: its interval, and the untrained encoder's
NOT_RUN = "not run"


def in_order(found: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the names that were found, first those known in their order, then the others by name."""
    present, order = set(found), list(known)
    return [name for name in order if name in present] + sorted(present - set(order))


def task_title(task: str) -> str:
    """Return a task with its metric, as the head of Table 1 has it."""
    return f"{TASKS.get(task, task)} ({METRICS[task]})" if task in METRICS else task


def other_language(pair: str) -> str:
    """Return the language beside the source language of a pair."""
    return pair.partition("-")[2]


def pair_title(pair: str) -> str:
    """Return a pair with a true prime, as en-en′."""
    return pair.replace("'", "′")


def cell_name(task: str, language: str) -> str:
    """Return how a cell of Table 1 is called in a sentence."""
    return f"{TASKS.get(task, task)} {language}"
