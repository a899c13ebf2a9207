"""From files to the page: verdicts first, then tables, figures, training, anchors, choices and provenance."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from xling.report.claims.render import RULES, SEED_NOTE, read_claims
from xling.report.page.gallery import find_figures, gallery
from xling.report.page.origin import origin, read_provenance
from xling.report.page.tables import study_table
from xling.report.page.verdicts import overview, seed_variances, shown_claim

CONTENTS = {
    "verdicts": "Verdicts",
    "data": "Data",
    "tables": "Tables",
    "figures": "Figures",
    "training": "Training",
    "anchors": "Anchor audit",
    "choices": "Method and choices",
    "provenance": "Provenance",
}
# A page may show any text, but these characters are no characters of an HTML document.
FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "�")
FORBIDDEN |= dict.fromkeys((*range(55296, 57344), 65534, 65535), "�")
LOWER = 2  # how far a Markdown page's headings move down: its section's title is an h2
FRAME = '<div class="frame" role="region" aria-label="Table: choices" tabindex="0"><table class="prose">'


@dataclass(frozen=True)
class Sources:
    """Where everything on the page comes from."""

    title: str
    claims: Path
    provenance: Path
    tables: Sequence[Path] = ()
    figures: Sequence[Path] = ()
    only: Sequence[str] = ()  # names of the study's figures, where its folders may hold others
    paper_figures: Sequence[Path] = ()
    choices: Sequence[Path] = ()


def build(sources: Sources) -> str:
    """Return the whole page; nothing that it shows or runs comes from anywhere else."""
    stored, known = read_claims(sources.claims), read_provenance(sources.provenance)
    ours, papers = find_figures(sources.figures, sources.only), find_figures(sources.paper_figures)
    notes = known["config"].get("study", {}).get("notes", [])
    style, script = asset("style.css"), asset("script.js")
    text = _template().render(
        title=sources.title,
        policy=policy(style, script),
        style=style,
        script=script,
        contents={id: name for id, name in CONTENTS.items() if id != "data" or notes},
        stored=stored,
        claims=[shown_claim(claim) for claim in stored["claims"]],
        overview=overview(stored),
        seed_variances=seed_variances(stored),
        seed_note=SEED_NOTE,
        rules=markdown(RULES),
        notes=notes,
        tables=[study_table(path) for path in sources.tables],
        galleries={id: gallery(id, ours, papers) for id in ("verdicts", "figures", "training", "anchors")},
        choices=Markup("").join(markdown(path.read_text(encoding="utf-8")) for path in sources.choices),
        origin=origin(known),
    )
    return f"{text.strip()}\n"


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
    """Return the policy under which a browser fetches nothing, and runs and styles only what is here."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") for text in (style, script)]
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def asset(name: str) -> Markup:
    """Return a file of the package that goes into the page as it is."""
    return Markup(Path(__file__).with_name(name).read_text(encoding="utf-8").strip())  # noqa: S704


def clean(value: Any) -> Any:
    """Return text without the characters that an HTML document must not hold."""
    return value.translate(FORBIDDEN) if isinstance(value, str) else value


def markdown(text: str) -> Markup:
    """Return one of our own Markdown pages as HTML, its headings below those of the section that it stands in.

    Links keep their words only: the page stands alone, so there is nothing beside it to go to. There is no alignment
    of columns, because the policy admits no inline style.
    """

    def code(_: Any, tokens: Sequence[Token], place: int, *__: Any) -> str:
        return f'<pre tabindex="0"><code>{escape(tokens[place].content)}</code></pre>'  # scrolled by the keyboard too

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    rules = {"link_open": "", "link_close": "", "table_open": FRAME, "table_close": "</table></div>"}
    for name, html in rules.items():
        parser.add_render_rule(name, lambda *_, html=html: html)
    for name in ("fence", "code_block"):
        parser.add_render_rule(name, code)
    tokens = parser.parse(clean(text))
    for token in tokens:
        token.attrs.pop("style", None)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + LOWER, 6)}"
        elif token.type == "th_open":
            token.attrs["scope"] = "col"
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704
