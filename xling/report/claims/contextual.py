"""Claim 6b: transfer through aligned contextual states (section 5.1.2, Figures 5 and 8).

A series is judged by its best layer. biMLM is the Default model, so the rule of Table 1 holds: where its best layer is
less than 5 points above the untrained encoder, the cell is left out.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from xling.report.cells import ROUNDING, SIGNAL
from xling.report.claims.layers import best, middle, rest
from xling.report.claims.over import ALL_LANGUAGES, Tally, cell_names
from xling.report.claims.verdict import Check, Part, Relation, Unit
from xling.report.estimate import Estimate, difference, mean
from xling.report.means import ContextualMean, Means
from xling.report.names import TASKS, cell_name
from xling.report.records import BI_MLM, BI_MLM_ALIGN, MLM_ALIGN

CONTEXTUAL_TASKS = ("ner", "parsing")
EXCEPTION = ("parsing", "fr")  # where the paper's aligned models are not below the bilingual one


@dataclass
class Panels:
    """The curves of a figure by task, language and series, and the floor of each panel's layers."""

    curves: dict[tuple[str, str, str], dict[int, Estimate]]
    floors: dict[tuple[str, str], dict[int, float]]

    def missing(self, task: str, language: str, *series: str) -> list[str]:
        """Return which of these series were not run in a panel."""
        return [name for name in series if (task, language, name) not in self.curves]

    def has_signal(self, task: str, language: str) -> bool:
        """Return whether the bilingual model's best layer is far enough above its floor at that layer."""
        curve = self.curves[task, language, BI_MLM]
        top = max(curve, key=lambda layer: curve[layer].value)
        return curve[top].value - self.floors[task, language][top] >= SIGNAL - ROUNDING

    def lead(self, task: str, language: str, left: str, right: str) -> Estimate:
        """Return the best layer of one series minus the best of another."""
        return difference(best(self.curves[task, language, left]), best(self.curves[task, language, right]))


def contextual_states_align(results: Means) -> list[Part]:
    """6b: aligned below bilingual but for parsing en-fr; best in the middle; NER's gap larger; 8 helps parsing only."""
    five, eight = _panels(results.figure5), _panels((*results.figure5, *results.figure8))
    return [_below_bilingual(five), _best_in_the_middle(five), _gap_larger_in_ner(five), *_helps_parsing_only(eight)]


def _panels(scores: Iterable[ContextualMean]) -> Panels:
    curves: dict[tuple[str, str, str], dict[int, Estimate]] = defaultdict(dict)
    floors: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for score in scores:
        curves[score.task, score.language, score.series][score.layer] = Estimate(score.score, score.low, score.high)
        if score.series == BI_MLM:
            floors[score.task, score.language][score.layer] = score.floor
    return Panels(dict(curves), dict(floors))


def _usable(panels: Panels, task: str, languages: Sequence[str], series: Sequence[str], tally: Tally) -> list[str]:
    def clear(language: str) -> bool:
        missing = panels.missing(task, language, BI_MLM, *series)
        return tally.ask(cell_name(task, language), missing, lambda: panels.has_signal(task, language))

    return [language for language in languages if clear(language)]


def _each(panels: Panels, what: str, judge: Callable[[str, str], Check | None], skip: tuple[str, str] | None) -> Part:
    tally = Tally()
    for task in CONTEXTUAL_TASKS:
        asked = [language for language in ALL_LANGUAGES if (task, language) != skip]
        for language in _usable(panels, task, asked, (MLM_ALIGN,), tally):
            check = judge(task, language)
            if check:
                tally.checks.append(check)
            else:
                tally.not_run.append(cell_name(task, language))
    return tally.part(what, Unit.POINTS)


def _below_bilingual(panels: Panels) -> Part:
    def judge(task: str, language: str) -> Check:
        lead = panels.lead(task, language, BI_MLM, MLM_ALIGN)
        return Check(cell_name(task, language), lead, Relation.ABOVE, language=language)

    return _each(panels, "biMLM minus MLM align, but for parsing fr (Figure 5)", judge, EXCEPTION)


def _best_in_the_middle(panels: Panels) -> Part:
    def judge(task: str, language: str) -> Check | None:
        curve = panels.curves[task, language, MLM_ALIGN]
        inside = middle(curve)
        if not inside or not rest(curve, inside):
            return None
        effect = difference(best(inside), best(rest(curve, inside)))
        return Check(cell_name(task, language), effect, Relation.AT_LEAST, language=language)

    return _each(panels, "best middle layer of MLM align minus best other layer (Figure 5)", judge, None)


def _gap_larger_in_ner(panels: Panels) -> Part:
    tally = Tally()
    usable = [set(_usable(panels, task, ALL_LANGUAGES, (MLM_ALIGN,), tally)) for task in CONTEXTUAL_TASKS]
    both = [language for language in ALL_LANGUAGES if all(language in clear for clear in usable)]
    if both:
        ner, parsing = (mean([panels.lead(task, x, BI_MLM, MLM_ALIGN) for x in both]) for task in CONTEXTUAL_TASKS)
        judged = tuple(name for task in CONTEXTUAL_TASKS for name in cell_names(task, both))
        tally.checks.append(Check(_over(both), difference(ner, parsing), Relation.ABOVE, cells=judged))
    return tally.part("mean gap between biMLM and MLM align in NER minus that in parsing (Figure 5)", Unit.POINTS)


def _helps_parsing_only(panels: Panels) -> list[Part]:
    parts = []
    for task, relation in (("parsing", Relation.ABOVE), ("ner", Relation.AT_MOST)):
        tally = Tally()
        languages = _usable(panels, task, ALL_LANGUAGES, (BI_MLM_ALIGN,), tally)
        if languages:
            effect = mean([panels.lead(task, language, BI_MLM_ALIGN, BI_MLM) for language in languages])
            tally.checks.append(Check(_over(languages), effect, relation, cells=cell_names(task, languages)))
        parts.append(tally.part(f"what alignment adds to biMLM on average in {TASKS[task]} (Figure 8)", Unit.POINTS))
    return parts


def _over(languages: Sequence[str]) -> str:
    return f"mean over {', '.join(languages)}"
