"""Build the page from its files: the study and its verdicts, then tables, figures, training, method, provenance."""

import base64
import hashlib
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markdown_it import MarkdownIt
from markupsafe import Markup

from xling.report.claims.render import RULES, read_claims
from xling.report.page.files import WORDS, Files
from xling.report.page.gallery import find_figures, galleries
from xling.report.page.origin import origin, read_provenance, study_facts
from xling.report.page.tables import SHOWN, study_tables
from xling.report.page.verdicts import shown_claim
from xling.report.rule import Verdict

# The text on a page may come from anywhere, but an HTML document must not contain these characters.
FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "�")
FORBIDDEN |= dict.fromkeys((*range(55296, 57344), 65534, 65535), "�")
FRAME = '<div class="frame" role="region" aria-label="Table: choices" tabindex="0"><table class="prose">'


def build(files: Files) -> str:
    """Return the whole page, which is self-contained: it loads and runs nothing from elsewhere."""
    stored, known = read_claims(files.claims), read_provenance(files.provenance)
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
        study=known["study"],
        facts=study_facts(known),
        notes=known["config"].get("study", {}).get("notes", []),
        stored=stored,
        claims=judged,
        not_run=[claim for claim in claims if claim not in judged],
        own_first=2 * len(judged) < len(claims),
        verdict_links=files.links([*verdict_files, *files.logs_of("claims")]),
        rules=markdown(RULES),
        glossary=WORDS["glossary"],
        tables=tables,
        shown_tables=SHOWN,
        galleries=shown,
        choices=[(path.name, headings(path.read_text(encoding="utf-8"))) for path in files.choices],
        origin=origin(known, files),
        origin_links=files.links([(files.provenance.name, files.provenance)]),
    )
    return f"{text.strip()}\n"


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
    return environment.get_template("page.html.j2")


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
