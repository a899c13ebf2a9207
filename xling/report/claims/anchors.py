"""Claims 1 to 3: anchor points and domain (sections 4.1 and 4.2 of the paper), judged on Table 1."""

from collections.abc import Sequence

from xling.report.cells import Cells
from xling.report.claims.over import (
    NOT_NER,
    Question,
    Tally,
    by_cell,
    by_task,
    cell_names,
    kept_share,
    mean_difference,
    mean_kept,
    usable,
)
from xling.report.claims.verdict import Check, Part, Relation, Unit
from xling.report.estimate import difference
from xling.report.means import Means
from xling.report.names import DEFAULT, DEFAULT_ANCHORS, EXTRA_ANCHORS, NO_ANCHORS, TASKS, WIKI_CC, cell_name


def anchors_not_needed(results: Means) -> list[Part]:
    """1a: No anchors keeps at least .75 of Default's transfer in every XNLI and parsing cell."""
    question = Question("kept share of No anchors", Unit.SHARE, (NO_ANCHORS,), NOT_NER)
    return [kept_share(Cells(results.figure3), NO_ANCHORS, Relation.AT_LEAST, 0.75, question)]


def no_anchors_near_default_anchors(results: Means) -> list[Part]:
    """1b: No anchors against Default anchors, which has the same BPE: in points at paper scale, in shares elsewhere."""
    cells = Cells(results.figure3)
    return [_near_in_points(cells) if results.paper_scale else _near_in_shares(cells)]


def more_anchors_help(results: Means) -> list[Part]:
    """2a: Extra anchors is above No anchors in every XNLI and parsing cell."""
    cells = Cells(results.figure3)

    def judge(task: str, language: str) -> Check:
        effect = difference(cells.score(EXTRA_ANCHORS, task, language), cells.score(NO_ANCHORS, task, language))
        return Check(cell_name(task, language), effect, Relation.ABOVE, language=language)

    settings = (EXTRA_ANCHORS, NO_ANCHORS)
    return [by_cell(cells, Question("Extra anchors minus No anchors", Unit.POINTS, settings, NOT_NER), judge)]


def most_for_the_distant_pair(results: Means) -> list[Part]:
    """2b: what Extra anchors adds to Default is largest on zh in each task."""
    cells = Cells(results.figure3)

    def judge(task: str, languages: Sequence[str]) -> list[Check]:
        added = {
            language: difference(cells.score(EXTRA_ANCHORS, task, language), cells.score(DEFAULT, task, language))
            for language in languages
        }
        if "zh" not in added or len(added) == 1:
            return []
        others = [added[language] for language in added if language != "zh"]
        next_best = max(others, key=lambda estimate: estimate.value)
        effect = difference(added["zh"], next_best)
        return [Check(TASKS[task], effect, Relation.ABOVE, cells=cell_names(task, languages))]

    what = "lead of zh over the next language in what Extra anchors adds to Default"
    return [by_task(cells, Question(what, Unit.POINTS, (EXTRA_ANCHORS,)), judge)]


def domain_matters_little(results: Means) -> list[Part]:
    """3: Wiki-CC keeps at least .9 on average on XNLI and on parsing, and less on NER than on either."""
    cells = Cells(results.figure3)
    question = Question("mean kept share of Wiki-CC", Unit.SHARE, (WIKI_CC,), NOT_NER)

    def level(task: str, languages: Sequence[str]) -> list[Check]:
        effect = mean_kept(cells, WIKI_CC, task, languages)
        return [Check(TASKS[task], effect, Relation.AT_LEAST, 0.9, cell_names(task, languages))]

    return [by_task(cells, question, level), _above_ner(cells, question)]


def _above_ner(cells: Cells, question: Question) -> Part:
    tally = Tally()
    clear = {task: usable(cells, question, task, tally) for task in ("ner", *NOT_NER)}
    for task in NOT_NER:
        both = [language for language in clear[task] if language in clear["ner"]]  # means over the same languages
        if both:
            here, ner = (mean_kept(cells, WIKI_CC, name, both) for name in (task, "ner"))
            judged = (*cell_names(task, both), *cell_names("ner", both))
            where = f"{TASKS[task]} against NER"
            tally.checks.append(Check(where, difference(here, ner), Relation.ABOVE, cells=judged))
    return tally.part("lead of the mean kept share of Wiki-CC over that on NER", Unit.SHARE)


def _near_in_points(cells: Cells) -> Part:
    def judge(task: str, languages: Sequence[str]) -> list[Check]:
        effect = mean_difference(cells, NO_ANCHORS, DEFAULT_ANCHORS, task, languages)
        return [Check(TASKS[task], effect, Relation.AT_LEAST, -2.0, cell_names(task, languages))]

    what = "mean of No anchors minus Default anchors"
    return by_task(cells, Question(what, Unit.POINTS, (NO_ANCHORS, DEFAULT_ANCHORS), NOT_NER), judge)


def _near_in_shares(cells: Cells) -> Part:
    def judge(task: str, languages: Sequence[str]) -> list[Check]:
        effect = difference(
            mean_kept(cells, NO_ANCHORS, task, languages), mean_kept(cells, DEFAULT_ANCHORS, task, languages)
        )
        borders = ((Relation.AT_LEAST, -0.15), (Relation.AT_MOST, 0.15))
        judged = cell_names(task, languages)
        return [Check(TASKS[task], effect, relation, border, judged) for relation, border in borders]

    what = "mean kept share of No anchors minus that of Default anchors"
    return by_task(cells, Question(what, Unit.SHARE, (NO_ANCHORS, DEFAULT_ANCHORS), NOT_NER), judge)
