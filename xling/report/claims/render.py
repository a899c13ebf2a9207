"""Verdicts as plain values, which are stored in claims.json, and as text made from those values."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.report import published
from xling.report.claims.all import CLAIMS, WORDS, Claim
from xling.report.evidence import Covariances
from xling.report.measured import Study
from xling.report.names import DEFAULT
from xling.report.records import Results
from xling.report.rule import Part, Relation, Unit, Verdict, gravest, standing
from xling.report.value import TAIL

RULES = WORDS["rules"]
KEYS = {"claims", "paper_scale", "headline", "seed_variance"}
SUFFIX = {Unit.POINTS: " points", Unit.TIMES: " times"}
DIGITS = {Unit.POINTS: 1, Unit.TIMES: 1, Unit.SHARE: 2, Unit.PEARSON: 2, Unit.CKA: 3}
MOST_DIGITS = 6
SHOWN_PLACES = 6
COUNTED = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
TOLD = {  # the verb for one claim, and for several
    Verdict.SUPPORTED: ("holds", "hold"),
    Verdict.MIXED: ("holds except in some cells", "hold except in some cells"),
    Verdict.CONTRADICTED: ("does not", "do not"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
    Verdict.NO_SIGNAL: ("has not enough signal", "have not enough signal"),
    Verdict.NOT_RUN: ("was not run", "were not run"),
}
AT_FLOOR = (
    "No score of Table 1 is clearly above that of an untrained model, so nothing here shows an effect: "
    "train longer, or on more text."
)
Stored = Mapping[str, Any]


def judged(results: Results, config_hash: str = "", covariances: Covariances | None = None) -> dict[str, Any]:
    """Return the verdicts on the results of a study as plain values, together with the paper's numbers."""
    study = Study(results, covariances)
    printed = replace(published.results(), paper_scale=results.paper_scale)
    here = tuple(cell for cell in printed.figure3 if study.clear(DEFAULT, cell.task, cell.language))
    others = [Study(printed, redraws=0), Study(replace(printed, figure3=here), redraws=0)]
    others.append(Study(results, chance=True, redraws=0))
    claims = [_claim(claim, *(claim.parts(own) for own in (study, *others))) for claim in CLAIMS]
    counts = Counter(claim["verdict"] for claim in claims)
    return {
        "config": config_hash,
        "paper_scale": results.paper_scale,
        **({"at_floor": AT_FLOOR} if at_floor(study) else {}),
        "headline": headline(claims),
        "counts": {verdict.value: counts[verdict] for verdict in Verdict},
        "claims": claims,
        "seed_variance": [
            {
                "measured": own.pool,
                "models": own.group,
                "second_seeds": own.second_seeds,
                "own": None if math.isnan(own.own) else 100 * math.sqrt(own.own),
                "used": 100 * math.sqrt(own.variance),
                "freedom": own.freedom,
                "origin": own.origin,
            }
            for own in study.variances.reset_index().itertuples()
            if own.origin != "none"
        ],
    }


def at_floor(study: Study) -> bool:
    """Return whether no score of Table 1 is above its floor, by 5 points or significantly (Bonferroni-corrected)."""
    floors = {cell.floor for cell in study.cells.values()}
    trained = [key for key in study.cells if key[0] not in floors]
    found = [standing(study.gain(*key), Relation.ABOVE, 0.0).confidence for key in trained]
    clear = any(study.clear(*key) for key in trained) or any(one >= 1 - TAIL / len(found) for one in found)
    return bool(trained) and not clear


def worded(claim: Stored) -> Verdict:
    """Return the verdict to print: "not enough signal" instead of "not run" if all cells that were run lack signal."""
    weak = [part for part in claim["parts"] if part.get("left_out") and part["verdict"] == Verdict.NOT_RUN]
    everywhere = any(len({*part["left_out"], *part["not_run"]}) == part["wanted"] for part in weak)
    verdict = Verdict(claim["verdict"])
    return Verdict.NO_SIGNAL if verdict is Verdict.NOT_RUN and everywhere else verdict


def read_claims(path: Path) -> dict[str, Any]:
    """Read the verdicts of a study that `judged` made."""
    value = read_json(path)
    if not isinstance(value, dict) or not value.keys() >= KEYS:  # its checksum file vouches for the rest
        raise InputError(path, "not a file of verdicts", fix="made by python -m xling.report.claims")
    return dict(value)


def as_markdown(stored: Stored) -> str:
    """Return the verdicts as a page: headline, table of claims, sentences, table of parts, and seed variances."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)  # noqa: S701 (not HTML)
    text = Path(__file__).with_name("claims.md.j2").read_text(encoding="utf-8")
    return environment.from_string(text, globals()).render(stored=stored)  # it calls the functions below


def first_lines(stored: Stored) -> list[str]:
    """Return the opening lines: a warning if the models learnt nothing, and the headline."""
    return [*([stored["at_floor"], ""] if "at_floor" in stored else []), stored["headline"]]


def row(claim: Stored) -> list[str]:
    """Return the row of a claim: number, claim, effect, threshold, the paper's value, verdict, seeds to decide."""
    part = claim["parts"][claim["deciding"]]
    effect = effect_text(part) if part["checks"] else "-"
    told = [threshold_text(part), paper_text(part) or claim["paper"], f"**{worded(claim)}**", seeds_text(claim)]
    return [claim["claim"], claim["says"], effect, *told]


def headline(claims: Sequence[Stored]) -> str:
    """Return a sentence that counts the claims by verdict."""
    counts = Counter(map(worded, claims))
    fallen = [claim for claim in claims if claim["verdict"] == Verdict.CONTRADICTED]
    by_ours = sum(claim["parts"][claim["deciding"]]["ours"] for claim in fallen)
    by_seeds = sum(claim["seeds_to_decide"] is not None for claim in claims)
    aside = {
        Verdict.CONTRADICTED: f" ({_count(by_ours)} of them judged by a threshold that we chose)" if by_ours else "",
        Verdict.UNDECIDED: f" (more seeds would decide {_count(by_seeds)} of them)" if by_seeds else "",
    }
    told = [f"{_count(n)} {TOLD[v][n > 1]}{aside.get(v, '')}" for v in Verdict if (n := counts[v])]
    listed = told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
    alone = any(part["one_seed"] for claim in claims for part in claim["parts"])
    note = " There is one seed, so seed variance is unknown: intervals are those of the test items." if alone else ""
    return f"Of the paper's {len(claims)} claims, {listed}.{note}"


def seeds_text(claim: Stored) -> str:
    """Return the number of seeds that would decide an undecided claim, or why there is none."""
    if claim["verdict"] != Verdict.UNDECIDED:
        return "-"
    if claim["seeds_to_decide"] is None:
        return "unknown: one seed" if any(part["one_seed"] for part in claim["parts"]) else "not by seeds"
    return str(claim["seeds_to_decide"])


def effect_text(part: Stored) -> str:
    """Return the mean effect of a part with its interval."""
    low, high = part["low"], part["high"]
    if part["unit"] == Unit.PEARSON:
        low, high = max(low, -1.0), min(high, 1.0)
    ends = f"[{number(low, part)}, {number(high, part)}]"
    return f"{number(part['value'], part)} {ends}{SUFFIX.get(Unit(part['unit']), '')}"


def threshold_text(part: Stored) -> str:
    """Return the required relation and threshold, marked if the threshold is ours."""
    return f"{part['relation']} {part['threshold']:g}" + (" (ours)" if part["ours"] else "")


def paper_text(part: Stored) -> str:
    """Return the paper's mean and range, and our mean if it is above chance as well; empty if nothing was printed."""
    if part["paper"] is None:
        return ""
    mean, low, high = (number(part["paper"][key], part) for key in ("value", "low", "high"))
    ours = "" if part["above_chance"] is None else f", ours above chance {number(part['above_chance'], part)}"
    return (f"{mean} ({low} to {high})" if low != high else mean) + ours


def number(value: float, part: Stored) -> str:
    """Return a value with the digits of its unit, or with more if rounding would put it on the threshold."""
    digits = DIGITS[Unit(part["unit"])]
    enough = (n for n in range(digits, MOST_DIGITS + 1) if float(f"{value:.{n}f}") != part["threshold"])
    text = f"{value:.{digits if value == part['threshold'] else next(enough, digits)}f}"
    return text.lstrip("-") if float(text) == 0 else text


def _claim(
    claim: Claim, own: list[Part], paper: list[Part], paper_here: list[Part], above_chance: list[Part]
) -> dict[str, Any]:
    """Return a judged claim; the deciding part is the part with its verdict that is furthest from support.

    `paper_here` is the paper in the cells of Table 1 that have signal in this study, with which ours can be compared.
    """
    verdict, needed = gravest(own), [part.seeds for part in own if part.verdict is Verdict.UNDECIDED]
    by_name = [{part.what: part for part in other if part.checks} for other in (paper, paper_here, above_chance)]
    if claim.source != "Table 1":
        by_name[2] = {}
    parts = [_part(part, *(found.get(part.what) for found in by_name)) for part in own]
    deciding = min((i for i, part in enumerate(own) if part.verdict is verdict), key=lambda i: own[i].support)
    decidable = verdict is Verdict.UNDECIDED and None not in needed
    stored = {
        "claim": claim.number,
        "says": claim.says,
        "source": claim.source,
        "verdict": verdict,
        "seeds_to_decide": max(n for n in needed if n is not None) if decidable else None,
        "deciding": deciding,
        **{key: parts[deciding][key] for key in ("judged", "wanted", "counted_in")},
        "parts": parts,
        "paper": claim.paper or "; ".join(f"{p['what']}: {paper_text(p)}" for p in parts if p["paper"]),
    }
    return stored | {"sentence": _sentence(stored)}


def _part(part: Part, paper: Part | None, paper_here: Part | None, above_chance: Part | None) -> dict[str, Any]:
    each = [standing(check.value, part.relation, part.threshold) for check in part.checks]
    own = standing(part.mean, part.relation, part.threshold) if each else None
    # Rows of claim 5 are judged by the signal of the nearer language, not of Default.
    same = paper_here if part.judged and part.over != "rows" else paper
    of_paper = same.checks if same else []
    printed = [check.value.observed for check in of_paper if not part.judged or part.judged & {*check.cells}]
    states = [found.state(len(each)) for found in each]
    alike = above_chance and [check.cells for check in above_chance.checks] == [check.cells for check in part.checks]
    chance = above_chance.mean.observed if above_chance and own and alike else None
    return {
        **{key: getattr(part, key) for key in ("what", "unit", "relation", "threshold", "ours", "verdict", "lacking")},
        **(vars(own) if own else {}),
        "above_chance": None if chance is None or own is None or math.isclose(chance, own.value) else chance,
        "paper": {"value": sum(printed) / len(printed), "low": min(printed), "high": max(printed)} if printed else None,
        **{state: states.count(state) for state in ("clear", "open", "against")},
        "seeds": part.mean.seeds if own else None,
        "seeds_to_decide": part.seeds if own and part.verdict is Verdict.UNDECIDED else None,
        "one_seed": bool(own) and "unknown" in part.mean.origins,
        "lent": bool(own) and "lent" in part.mean.origins,
        "judged": len(part.judged),
        "wanted": len(part.cells),
        "counted_in": part.over,
        "checks": [
            {"where": check.where, "language": check.language, "state": state, "shown": check.shown, **vars(found)}
            for check, state, found in zip(part.checks, states, each, strict=True)
        ],
        "left_out": part.left_out,
        "not_run": part.not_run,
    }


def _sentence(claim: Stored) -> str:
    """Return a sentence with the reasons for a verdict and the number of cells behind it."""
    parts = [part for part in claim["parts"] if part["verdict"] == claim["verdict"]]
    texts = [_why(part) if part["checks"] else f"{part['what']} could not be judged" for part in parts]
    others = Counter(Verdict(part["verdict"]) for part in claim["parts"] if part not in parts)
    texts += [f"of its {len(claim['parts'])} parts {_count(n)} {TOLD[v][n > 1]}" for v, n in others.items()]
    texts += ["seed variance unknown"] if any(part["one_seed"] for part in claim["parts"]) else []
    texts += ["one seed: its variance is taken from Table 1"] if any(part["lent"] for part in claim["parts"]) else []
    for key, title in (("left_out", "left out for too little signal"), ("not_run", "not run, or not in full")):
        if places := list(dict.fromkeys(place for part in parts for place in part[key])):
            texts.append(f"{title}: {_some(places)}")
    if lacking := list(dict.fromkeys(name for part in parts for name in part["lacking"])):
        texts[-1] += f" (missing there: {_some(lacking)})"
    text = "; ".join(texts) + "."
    return text[:1].upper() + text[1:]


def _why(part: Stored) -> str:
    counts = [f"{part[state]} {state}" for state in ("clear", "open", "against") if part[state]]
    against = [check["where"] for check in part["checks"] if check["state"] == "against"]
    named = f" ({_some(against)})" if against else ""
    rests = f"{part['judged']} of {part['wanted']} {part['counted_in']}"
    several = len(part["checks"]) not in (1, part["judged"])  # values of means or differences of cells
    counted = f"of {len(part['checks'])} values " if several else ""
    return (
        f"{part['what']} is {effect_text(part)} on average, wanted {threshold_text(part)}, on {rests}: "
        f"{counted}{', '.join(counts)}{named}"
    )


def _count(n: int) -> str:
    return COUNTED[n] if n < len(COUNTED) else str(n)


def _some(places: Sequence[str]) -> str:
    more = len(places) - SHOWN_PLACES
    return ", ".join(places[:SHOWN_PLACES]) + (f" and {more} more" if more > 0 else "")
