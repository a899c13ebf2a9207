"""Verdicts as JSON and as Markdown, with what the paper's own numbers give beside them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from xling.report import published
from xling.report.claims.all import CLAIMS
from xling.report.claims.languages import by_language, languages_table
from xling.report.claims.verdict import Check, Coverage, Outcome, Part, Unit, Verdict, judge
from xling.report.claims.words import count_text, counted, effect_text, sentence, standing
from xling.report.means import Means, means

RULES = """\
*Floor*: the untrained encoder with the same kind of vocabulary, fine-tuned the same way (for the paper's numbers:
chance). *Kept share*: a setting's score above its floor, divided by Default's above its own. A cell whose Default is
less than 5 points above its floor has not enough signal and is left out. *Far above*: by at least 5 points.

Every verdict says on how many of the cells (or pairs, rows, curves) that the paper's claim is about it rests; of
several parts, the least covered counts. A cell is judged where all that the claim asks of it was run and has signal.
Where only some was run, it can refute a claim but not support it. *Not run*: no cell of a part could be judged, and
some were not run. *Not enough signal*: all were run, and none has signal.

Verdicts rest on the values. Brackets hold intervals; a sentence says where they reach beyond the border that decides,
or are not known. Those of a best layer do not count that it was chosen; those of a correlation take the layers as
independent, and those of CKA, which are of seeds alone, the pairs. The paper's numbers have none. *Weakest* is the
value nearest to its border, or furthest beyond it.
"""
ALONE = """\
How many of a claim's checks hold, of those that judge a cell, pair or curve of one language: neither means over
languages nor comparisons of them are among them, nor cells without signal or not run in full."""


def judge_all(results: Means) -> list[Outcome]:
    """Return every claim judged on some results."""
    return [judge(claim, results) for claim in CLAIMS]


def as_json(outcomes: Sequence[Outcome], paper_scale: bool, config_hash: str) -> dict[str, Any]:
    """Return the verdicts as plain values."""
    paper = {outcome.claim.number: outcome for outcome in judge_all(means(published.results()))}
    counts = Counter(outcome.verdict for outcome in outcomes)
    return {
        "config": config_hash,
        "paper_scale": paper_scale,
        "counts": {verdict.value: counts[verdict] for verdict in Verdict},
        "claims": [_claim(outcome, paper[outcome.claim.number]) for outcome in outcomes],
    }


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """Return the verdicts as a page: a table, each in a sentence, and in which languages it holds."""
    paper = {outcome.claim.number: outcome for outcome in judge_all(means(published.results()))}
    lines = ["# What this run shows of the paper's claims", "", summary(outcomes), ""]
    lines += ["| | claim | verdict | rests on | this run | paper |", "|---|---|---|---|---|---|"]
    for outcome in outcomes:
        claim = outcome.claim
        cells = (claim.says, f"**{outcome.verdict}**", counted(outcome.coverage), effect_text(outcome) or "-")
        lines.append(f"| {claim.number} | {' | '.join(cells)} | {paper_text(paper[claim.number])} |")
    lines += ["", "## In words", ""]
    lines += [f"- **{outcome.claim.number}, {outcome.verdict}.** {sentence(outcome)}" for outcome in outcomes]
    if table := languages_table(outcomes):
        lines += ["", "## Language by language", "", ALONE, "", *table]
    return "\n".join([*lines, "", "## Rules", "", RULES])


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return how many claims have which verdict, and how many of them on fewer cells than the claim is about."""
    return count_text([(outcome.verdict, outcome.coverage.whole) for outcome in outcomes]) + "."


def paper_text(outcome: Outcome) -> str:
    """Return the paper's value: from its numbers where it printed them, else what its text says."""
    return effect_text(outcome) or outcome.claim.paper


def _coverage(coverage: Coverage) -> dict[str, Any]:
    counts = {"cells_judged": coverage.judged, "cells_run": coverage.run, "cells_wanted": coverage.wanted}
    return counts | {"counted_in": coverage.over.value}


def _claim(outcome: Outcome, paper: Outcome) -> dict[str, Any]:
    claim, part = outcome.claim, outcome.deciding
    return {
        "claim": claim.number,
        "says": claim.says,
        "source": claim.source,
        "verdict": outcome.verdict.value,
        "stands": standing(outcome.verdict, outcome.coverage),
        **_coverage(outcome.coverage),
        "sentence": sentence(outcome),
        "effect": _check(part.weakest, part.unit) if part.weakest else None,
        "parts": [_part(each) for each in outcome.parts],
        "by_language": {code: asdict(held) for code, held in by_language(outcome).items()},
        "paper": {"verdict": paper.verdict.value if effect_text(paper) else None, "effect": paper_text(paper)},
    }


def _part(part: Part) -> dict[str, Any]:
    return {
        "what": part.what,
        "verdict": part.verdict.value,
        **_coverage(part.coverage),
        "checks": [_check(check, part.unit) for check in part.checks],
        "left_out": list(part.left_out),
        "not_run": list(part.not_run),
        "lacking": list(part.lacking),
    }


def _check(check: Check, unit: Unit) -> dict[str, Any]:
    return {
        "where": check.where,
        "value": check.effect.value,
        "low": check.effect.low,
        "high": check.effect.high,
        "unit": unit.value,
        "relation": check.relation.value,
        "border": check.border,
        "passed": check.passed,
        "unsure": check.unsure,
        "judges": list(check.judges),
    }
