"""Build the page from its files: the study and its verdicts, then tables, figures, training, method, provenance."""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markdown_it import MarkdownIt
from markupsafe import Markup

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.core.log import duration
from xling.report.claims import render
from xling.report.claims.render import Stored
from xling.report.figures.forest import LIMIT, marks
from xling.report.names import TASKS
from xling.report.page.files import WORDS, Files, Link
from xling.report.page.gallery import find_figures, galleries
from xling.report.page.tables import SHOWN, Table, data_table, model_table, stage_table, study_tables
from xling.report.rule import Verdict

KEYS = {"study", "config", "config_hash", "commit", "changed", "collected", "python", "versions"}
KEYS |= {"machine", "stages", "models", "data"}
# The text on a page may come from anywhere, but an HTML document must not contain these characters.
FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "�")
FORBIDDEN |= dict.fromkeys((*range(55296, 57344), 65534, 65535), "�")
CLASSES = {
    Verdict.SUPPORTED: ("supported", "✓"),
    Verdict.MIXED: ("supported", "✓"),
    Verdict.CONTRADICTED: ("unsupported", "✗"),
    Verdict.UNDECIDED: ("unclear", "?"),
    Verdict.NO_SIGNAL: ("unclear", "~"),
    Verdict.NOT_RUN: ("absent", "–"),
}
UNIT = 10  # drawing units per half-width of an interval
FRAME = '<div class="frame" role="region" aria-label="Table: choices" tabindex="0"><table class="prose">'


def build(files: Files) -> str:
    """Return the whole page, which is self-contained: it loads and runs nothing from elsewhere."""
    stored, known = render.read_claims(files.claims), read_provenance(files.provenance)
    ours, papers = find_figures(files.figures, files.only), find_figures(files.paper_figures)
    shown, tables = galleries(ours, papers, files), study_tables(files)
    ids = {table.id for table in tables} | {f"figure-{name}" for name in ours}
    claims = [shown_claim(claim, ids) for claim in stored["claims"]]
    judged = [claim for claim in claims if claim["verdict"] != Verdict.NOT_RUN]
    verdict_files = [(path.name, path) for path in (files.claims, files.claims.with_suffix(".md"))]
    style, script = asset("style.css"), asset("script.js")
    text = _template().render(
        title=files.title,
        policy=policy(style, script),
        style=style,
        script=script,
        facts=study_facts(known),
        notes=known["config"].get("study", {}).get("notes", []),
        generated=known["config"].get("data", {}).get("origin") == "generated",
        stored=stored,
        claims=judged,
        not_run=[claim for claim in claims if claim not in judged],
        own_first=2 * len(judged) < len(claims),
        verdict_links=files.links([*verdict_files, *files.logs_of("claims")]),
        rules=markdown(render.RULES),
        glossary=WORDS["glossary"],
        tables=tables,
        shown_tables=SHOWN,
        galleries=shown,
        choices=[(path.name, headings(path.read_text(encoding="utf-8"))) for path in files.choices],
        known=known,
        stages=stage_table(known),
        models=model_table(known, files),
        origin_links=files.links([(files.provenance.name, files.provenance)]),
    )
    return f"{text.strip()}\n"


def read_provenance(path: Path) -> dict[str, Any]:
    """Read the provenance of the results of a study."""
    value = read_json(path)
    if not isinstance(value, dict) or not value.keys() >= KEYS:
        missing = sorted(KEYS - set(value if isinstance(value, dict) else ()))
        raise InputError(path, f"not a study's provenance: {', '.join(missing)} missing")
    return value


def study_facts(known: Mapping[str, Any]) -> dict[str, str]:
    """Return a short description of the study: its languages, tasks and settings, and the amount of training."""
    config = known["config"]
    chosen = config.get("study", {})
    languages = config.get("languages", {})
    names = {code: f"{own['name']} ({code})" for code, own in languages.items() if own.get("name")}
    pairs = [pair.split("-") for pair in chosen.get("pairs", [])]
    labels = [config["settings"][name]["label"] for name in chosen.get("settings", [])]
    updates = sorted({model["updates"] for model in known["models"]})
    trained = f"{len(known['models'])} models, {' or '.join(f'{n:,}' for n in updates)} updates each" if updates else ""
    seeds = Counter(model["model"].rpartition(".s")[0] for model in known["models"])
    several = " or ".join(map(str, sorted(set(seeds.values()))))
    return {
        "From": names.get(chosen.get("source"), chosen.get("source", "")),
        "To": ", ".join(names.get(pair[-1], pair[-1]) for pair in pairs),
        "Tasks": ", ".join(TASKS.get(task, task) for task in chosen.get("tasks", [])),
        "Settings": ", ".join(labels),
        "Trained": f"{trained}, {several} {'seed' if several == '1' else 'seeds'}" if trained else "",
    }


def headings(text: str) -> list[str]:
    """Return the headings of a Markdown page."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [own.content for before, own in pairwise(tokens) if before.type == "heading_open"]


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("xling.report", "page"),
        autoescape=True,
        finalize=clean,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["duration"] = duration
    texts = (render.effect_text, render.threshold_text, render.seeds_text)
    return environment.get_template("page.html.j2", globals={text.__name__: text for text in texts})


def policy(style: str, script: str) -> str:
    """Return a content security policy: the browser loads nothing and accepts only this style sheet and script."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") for text in (style, script)]
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def asset(name: str) -> Markup:
    """Return a file of the package that is inserted into the page unchanged."""
    return Markup(Path(__file__).with_name(name).read_text(encoding="utf-8").strip())  # noqa: S704


def clean(value: Any) -> Any:
    """Replace the characters that an HTML document must not contain; other values than text stay as they are."""
    return value.translate(FORBIDDEN) if isinstance(value, str) else value


def markdown(text: str) -> Markup:
    """Return Markdown as HTML (only for our own texts). Columns are not aligned: the policy allows no inline style."""
    parser = MarkdownIt("commonmark").enable("table")
    rules = {"table_open": FRAME, "table_close": "</table></div>", "th_open": '<th scope="col">'}
    for name, html in rules.items():
        parser.add_render_rule(name, lambda *_, html=html: html)
    return Markup(parser.render(text))  # noqa: S704


# --- verdicts: a row of the forest plot for each claim, and the cells that are not clear ------------------------------


def shown_claim(claim: Stored, ids: Collection[str]) -> dict[str, Any]:
    """Return a claim with its results; `ids` are the ids of the tables and figures on the page that it may link to."""
    verdict = render.worded(claim)
    kind, sign = CLASSES[verdict]
    part = claim["parts"][claim["deciding"]]
    return {
        **claim,
        "name": WORDS["claims"].get(claim["claim"], claim["says"]),
        "verdict": verdict,
        "kind": kind,
        "sign": sign,
        "part": part,
        "plot": _plot(claim, part) if part["checks"] else None,
        "shown_in": _sources(claim["source"], ids),
        "cells": _cells(claim),
    }


def _plot(claim: Stored, part: Stored) -> dict[str, Any]:
    """Return the deciding part as a row of the forest plot, in units of the drawing; right of 0 the claim holds."""
    shown = marks(claim, part)
    places = [round(UNIT * max(-LIMIT, min(LIMIT, margin)), 1) for margin in shown["margin"]]
    (mean,), ends, cells, paper = (
        [place for place, own in zip(places, shown["kind"], strict=True) if own in kinds]
        for kinds in (("mean",), ("low", "high"), ("cell",), ("paper",))
    )
    bar = (min(ends), round(max(ends) - min(ends), 1)) if part["high"] > part["low"] else None
    return {"mean": mean, "bar": bar, "cells": cells, "paper": paper[0] if paper else None}


def _sources(source: str, ids: Collection[str]) -> list[Link]:
    """Return links to the tables and figures behind a claim; "Figures 4a, 4b" gives two links."""
    word = source.partition(" ")[0].rstrip("s")
    kind = "table" if word == "Table" else "figure-figure"
    places = {f"{word} {number}": f"{kind}{number}" for number in re.findall(r"\d\w?", source)}
    return [Link(text, f"#{place}" if place in ids else "") for text, place in places.items()]


def _cells(claim: Stored) -> Table | None:
    """Return a table of the cells that are not clear, in the parts of a claim that are not supported."""
    rows, groups = [], []
    for part in (part for part in claim["parts"] if part["verdict"] != Verdict.SUPPORTED):
        for check in (check for check in part["checks"] if check["state"] != "clear"):
            value, low, high = (render.number(check[key], part) for key in ("value", "low", "high"))
            shown = f"{value} [{low}, {high}]" if check["shown"] else "denominator too noisy"
            rows.append((check["where"], shown, check["state"]))
            groups.append(f"{part['what'][:1].upper()}{part['what'][1:]}, wanted {render.threshold_text(part)}")
    titles = ("Where", "This run", "State")
    return data_table(titles, rows, f"checks of claim {claim['claim']}", groups) if rows else None
