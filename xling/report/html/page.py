"""The page around the sections: head, policy, contents, style and script, all in one file."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from xling.report.html.markup import Html, el, join

PAPER = "Emerging Cross-lingual Structure in Pretrained Language Models"
_FOLDER = files("xling.report.html")


@dataclass(frozen=True)
class Section:
    """A part of the page with an entry in the contents."""

    id: str
    title: str
    content: Html
    intro: str = ""


def page(title: str, lead: Html, sections: Sequence[Section]) -> str:
    """Return the whole page; nothing it shows or runs comes from anywhere else."""
    style, script = asset("style.css"), asset("script.js")
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy(style, script)),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("style", style),
    )
    body = el(
        "body",
        el("a", "Skip to the verdicts", href=f"#{sections[0].id}", class_="skip"),
        el("header", el("p", title, class_="eyebrow"), el("h1", PAPER), lead),
        el("div", _contents(sections), el("main", [_section(section) for section in sections]), class_="columns"),
        el("script", script),
    )
    return f"<!DOCTYPE html>\n{el('html', head, body, lang='en')}\n"


def policy(style: str, script: str) -> str:
    """Return the policy under which a browser fetches nothing, and runs and styles only what is here."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def asset(name: str) -> Html:
    """Return a file of the package that goes into the page as it is."""
    return Html((_FOLDER / name).read_text(encoding="utf-8").strip())


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def _contents(sections: Sequence[Section]) -> Html:
    entries = [el("li", el("a", section.title, href=f"#{section.id}")) for section in sections]
    return el("nav", el("p", "Contents", class_="eyebrow"), el("ol", entries), aria_label="Contents")


def _section(section: Section) -> Html:
    heading = el("h2", section.title, id=f"{section.id}-heading")
    intro = el("p", section.intro, class_="intro") if section.intro else None
    return el("section", join(heading, intro, section.content), id=section.id, aria_labelledby=f"{section.id}-heading")
