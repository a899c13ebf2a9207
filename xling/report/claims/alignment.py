"""Claims 6a and 6c: words and sentences of monolingual models after alignment (sections 5.1.1 and 5.1.3).

The paper says "far above" without a number; here it means 5 points, which is also what a cell of Table 1 needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from xling.report.cells import SIGNAL
from xling.report.claims.layers import Curve, best, layer_curves, lower, rest, upper, word_curve
from xling.report.claims.over import Tally
from xling.report.claims.verdict import Check, Over, Part, Relation, Unit
from xling.report.estimate import Estimate, difference, mean_together
from xling.report.means import Means, WordMean
from xling.report.names import OTHERS
from xling.report.records import BERT, FASTTEXT, MONOLINGUAL, UNTRAINED

CurveJudge = Callable[[Curve, Curve], Check | None]


def words_align(results: Means) -> list[Part]:
    """6a: embeddings level with fastText; contextual averages below it, best in upper layers; all far above chance."""
    static, contextual = results.figure4a, results.figure4b
    return [
        _words(static, "embedding matrix minus fastText (Figure 4a)", _level),
        _words(contextual, "fastText minus best contextual layer (Figure 4b)", _behind),
        _words(contextual, "mean of upper minus mean of lower layers (Figure 4b)", _rising),
        _words_far_above(static, "lead of the embedding matrix over chance and the untrained encoder (Figure 4a)"),
        _words_far_above(contextual, "lead of the best contextual layer over chance and the untrained encoder (4b)"),
    ]


def sentences_align(results: Means) -> list[Part]:
    """6c: sentence retrieval is far above chance and the untrained encoder, and best at lower layers."""
    trained, untrained = (layer_curves(results.figure6, model) for model in (MONOLINGUAL, UNTRAINED))
    chance = {score.language: score.chance for score in results.figure6}
    far, low = Tally(), Tally()
    for language in OTHERS:
        curve, floor = trained.get(language, {}), untrained.get(language, {})
        _note(far, language, _lead(curve, floor, chance[language]) if curve and floor else None)
        _note(low, language, _best_below(curve))
    lead = "lead of the best layer over chance and the untrained encoder"
    below = low.part("best lower layer minus best layer above", Unit.POINTS, Over.PAIRS)
    return [far.part(lead, Unit.POINTS, Over.PAIRS), below]


def _words(scores: Sequence[WordMean], what: str, judge: CurveJudge) -> Part:
    tally = Tally()
    for language in OTHERS:
        bert, fasttext = (word_curve(scores, language, vectors) for vectors in (BERT, FASTTEXT))
        _note(tally, language, judge(bert, fasttext))
    return tally.part(what, Unit.POINTS, Over.PAIRS)


def _level(bert: Curve, fasttext: Curve) -> Check | None:
    return Check("", difference(best(bert), best(fasttext)), Relation.AT_LEAST) if bert and fasttext else None


def _behind(bert: Curve, fasttext: Curve) -> Check | None:
    return Check("", difference(best(fasttext), best(bert)), Relation.ABOVE) if bert and fasttext else None


def _rising(bert: Curve, _: Curve) -> Check | None:
    if not bert or not lower(bert) or not upper(bert):
        return None
    halves = (mean_together(list(half.values())) for half in (upper(bert), lower(bert)))
    return Check("", difference(*halves), Relation.ABOVE)


def _words_far_above(scores: Sequence[WordMean], what: str) -> Part:
    tally = Tally()
    chance = {score.language: score.chance for score in scores}
    for language in OTHERS:
        bert, untrained = (word_curve(scores, language, vectors) for vectors in (BERT, UNTRAINED))
        _note(tally, language, _lead(bert, untrained, chance[language]) if bert and untrained else None)
    return tally.part(what, Unit.POINTS, Over.PAIRS)


def _lead(curve: Curve, untrained: Curve, chance: float) -> Check:
    floor = best({0: best(untrained), 1: Estimate(chance, chance, chance)})
    return Check("", difference(best(curve), floor), Relation.AT_LEAST, SIGNAL)


def _best_below(curve: Curve) -> Check | None:
    if not curve or not lower(curve):
        return None
    below = lower(curve)
    return Check("", difference(best(below), best(rest(curve, below))), Relation.AT_LEAST)


def _note(tally: Tally, language: str, check: Check | None) -> None:
    if check is None:
        tally.not_run.append(f"en-{language}")
    else:
        tally.checks.append(replace(check, where=f"en-{language}", language=language))
