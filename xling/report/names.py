"""Names of settings, tasks, languages and pairs, in the paper's order."""

from collections.abc import Iterable

from xling.core import tasks

DEFAULT, WIKI_CC = "Default", "Wiki-CC"
ANCHORS = NO_ANCHORS, DEFAULT_ANCHORS, EXTRA_ANCHORS = ("No anchors", "Default anchors", "Extra anchors")
SEP_EMB, SEP_3, SEP_6 = "Sep Emb", "Sep L1-3", "Sep L1-6"
SEP_EMB_3, SEP_EMB_6 = "Sep Emb + L1-3", "Sep Emb + L1-6"
SETTINGS = (DEFAULT, WIKI_CC, *ANCHORS, SEP_EMB, SEP_3, SEP_6, SEP_EMB_3, SEP_EMB_6)  # the rows of Table 1

TASKS: dict[str, str] = {name: task.title for name, task in tasks.TASKS.items()}
SCORES: dict[str, str] = {name: task.score for name, task in tasks.TASKS.items()}

LANGUAGES = {"en": "English", "en'": "English′", "fr": "French", "de": "German", "ru": "Russian", "zh": "Chinese"}
OTHERS = ("fr", "de", "ru", "zh")  # the languages that English is compared with, nearest first
PAIRS = ("en-en'", "en-fr", "en-de", "en-ru", "en-zh")  # the columns of Figure 7, nearest first

MARGINS = ("low", "high", "floor")  # extra columns of a score: its interval, and the score of the untrained encoder
NOT_RUN = "not run"


def in_order(found: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the distinct names in `found`: first the known names in their order, then the others sorted by name."""
    present, order = set(found), list(known)
    return [name for name in order if name in present] + sorted(present - set(order))


def task_title(task: str) -> str:
    """Return a task with its metric, as in the heading of Table 1."""
    return f"{TASKS[task]} ({SCORES[task]})" if task in TASKS else task


def other_language(pair: str) -> str:
    """Return the language of a pair that is not the source language."""
    return pair.partition("-")[2]


def pair_title(pair: str) -> str:
    """Return a pair with a typographic prime, for example en-en′."""
    return pair.replace("'", "′")


def cell_name(task: str, language: str) -> str:
    """Return the name of a cell of Table 1 for use in a sentence."""
    return f"{TASKS.get(task, task)} {language}"
