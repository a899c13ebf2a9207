"""Scores in per cent, computed from counts per item, so a bootstrap can score any sample of items.

Counts are integer arrays with one column per quantity in the last axis; the other axes are kept. Named entities are
scored as spans of repaired BIO tags. The score of a model in a task is the mean over the grid points that are best on
the dev set of the source language (section 3.2 of the paper).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xling.core.stats import LEVEL, Counts, Measure, Scores, interval
from xling.data.tasks import OUTSIDE

RIGHT = ("right", "total")
SPANS = ("right", "predicted", "gold")
ATTACHMENT = ("labelled", "unlabelled", "total")
Span = tuple[str, int, int]  # type, index of the first word, index after the last word
Result = dict[str, Any]


def percent(part: NDArray[Any], whole: NDArray[Any]) -> Scores:
    """Return 100 part / whole, or 0 for entries whose whole is 0."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    result = np.zeros(np.broadcast(part, whole).shape)
    np.divide(100 * part, whole, out=result, where=whole > 0)
    return result


def share(top: int, bottom: int) -> Measure:
    """Return the measure that divides one column by another."""
    return lambda counts: percent(counts[..., top], counts[..., bottom])


def span_f1(counts: NDArray[Any]) -> Scores:
    """Return F1 from the columns of `SPANS`: the harmonic mean of precision and recall."""
    return percent(2 * counts[..., 0], counts[..., 1] + counts[..., 2])


ACCURACY: Mapping[str, Measure] = {"accuracy": share(0, 1)}
SPAN_SCORES: Mapping[str, Measure] = {"f1": span_f1, "precision": share(0, 1), "recall": share(0, 2)}
ATTACHMENT_SCORES: Mapping[str, Measure] = {"las": share(0, 2), "uas": share(1, 2)}
# The first measure of each task selects grid points and is its score.
MEASURES = {"xnli": ACCURACY, "ner": SPAN_SCORES, "parsing": ATTACHMENT_SCORES, "pos": ACCURACY}


def counts_of(result: Mapping[str, Any]) -> Counts:
    """Return the counts (items, columns) of a result, whose `items` hold one line of numbers per name in `columns`."""
    columns = [np.array(result["items"][name].split(), dtype=np.int64) for name in result["columns"]]
    return np.stack(columns, axis=1)


def count_spans(gold: Sequence[str], predicted: Sequence[str]) -> tuple[int, int, int]:
    """Return the numbers of correct (type and both ends), predicted and gold spans of a sentence with repaired tags."""
    wanted, found = set(spans(gold)), set(spans(predicted))
    return len(wanted & found), len(found), len(wanted)


def spans(tags: Sequence[str]) -> list[Span]:
    """Return the spans of tags after repair: an I- tag continues the span before it, or begins one if there is none.

    The last type of a span is its type: `B-X I-Y I-Z` is one span of type Z.
    """
    found: list[Span] = []
    for place, tag in enumerate(tags):
        if tag.startswith("I-") and found and found[-1][2] == place:
            found[-1] = tag[2:], found[-1][1], place + 1
        elif tag != OUTSIDE:
            found.append((tag[2:], place, place + 1))
    return found


def select(dev: Sequence[float], best: int) -> list[int]:
    """Return the numbers of the `best` points with the highest dev scores, highest first; ties go to the lower one."""
    return sorted(range(len(dev)), key=lambda number: (-dev[number], number))[:best]


def summarise(result: Result, best: int) -> Result:
    """Return the selected grid points of a task and the score, interval and baseline of each test language.

    All grid points are included, without the counts of their test items.
    """
    chosen = select([point["dev_score"] for point in result["points"]], best)
    selected = [result["points"][number] for number in chosen]
    name, measure = next(iter(MEASURES[result["task"]].items()))
    languages = {}
    for code in selected[0]["test"]:
        tests = [point["test"][code] for point in selected]
        means = {key: float(np.mean([test["measures"][key] for test in tests])) for key in tests[0]["measures"]}
        reach = interval(np.stack([counts_of(test) for test in tests]), measure, result["task"], result["model"], code)
        chance = {"what": result["baseline"]["what"], "score": result["baseline"]["measures"][code][name]}
        found = {"score": means[name], "interval": list(reach), "level": LEVEL, "measures": means}
        languages[code] = found | {"baseline": chance}
    about = {key: value for key, value in result.items() if key not in ("baseline", "torch")}
    points = [
        point | {"test": {code: found["measures"] for code, found in point["test"].items()}}
        for point in result["points"]
    ]
    dev = float(np.mean([point["dev_score"] for point in selected]))
    return about | {"measure": name, "selected": chosen, "dev": dev, "languages": languages, "points": points}
