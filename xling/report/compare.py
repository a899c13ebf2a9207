"""A study's cells beside the paper's: points where they can be compared, kept shares where only those can."""

from collections.abc import Iterable

from xling.report.cells import Cells
from xling.report.estimate import Estimate
from xling.report.grid import Column, Grid, Row, signed
from xling.report.names import DEFAULT, LANGUAGES, NOT_RUN, SETTINGS, TASKS, in_order, task_title
from xling.report.records import Cell

CAPTION = (
    "In square brackets: the interval of a score. Floor: the untrained encoder. Kept: the share of Default's score "
    "above its floor; none is given where Default is less than 5 points above its floor."
)
HEADINGS = (
    ("", "Model"),
    ("", "Language"),
    ("ours", "score"),
    ("ours", "floor"),
    ("ours", "kept"),
    ("paper", "score"),
    ("paper", "kept"),
    ("ours - paper", "score"),
    ("ours - paper", "kept"),
)


def comparison(ours: Iterable[Cell], theirs: Iterable[Cell]) -> Grid:
    """Return every cell that either side has, ours and theirs in one row, grouped by task."""
    left, right = Cells(ours), Cells(theirs)
    keys = {*left.by_key, *right.by_key}
    rows = [
        Row(task_title(task), _texts(left, right, setting, task, language))
        for task in in_order((task for _, task, _ in keys), TASKS)
        for setting in in_order((setting for setting, _, _ in keys), SETTINGS)
        for language in in_order((language for _, _, language in keys), LANGUAGES)
        if (setting, task, language) in keys
    ]
    return Grid(tuple(Column(over, name) for over, name in HEADINGS), tuple(rows), CAPTION)


def interval_text(estimate: Estimate, digits: int = 1) -> str:
    """Return a value with its interval in brackets, where it has one."""
    text = f"{estimate.value:.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def _texts(left: Cells, right: Cells, *key: str) -> tuple[str, ...]:
    setting, _, language = key
    ours, theirs = _score(left, *key), _score(right, *key)
    kept, their_kept = _kept(left, *key), _kept(right, *key)
    return (
        setting,
        language,
        interval_text(ours) if ours else NOT_RUN,
        f"{left.by_key[key[0], key[1], key[2]].floor:.1f}" if ours else "",
        interval_text(kept, 2) if kept else "",
        f"{theirs.value:.1f}" if theirs else NOT_RUN,
        f"{their_kept.value:.2f}" if their_kept else "",
        signed(ours.value - theirs.value) if ours and theirs else "",
        signed(kept.value - their_kept.value, 2) if kept and their_kept else "",
    )


def _score(cells: Cells, setting: str, task: str, language: str) -> Estimate | None:
    return cells.score(setting, task, language) if cells.has(setting, task, language) else None


def _kept(cells: Cells, setting: str, task: str, language: str) -> Estimate | None:
    if not (cells.has(setting, task, language) and cells.has(DEFAULT, task, language)):
        return None
    return cells.kept(setting, task, language) if cells.has_signal(task, language) else None
