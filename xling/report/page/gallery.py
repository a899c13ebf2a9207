"""The figures of the page, with titles, captions, pictures and files, and the titles of figures that were not run."""

import base64
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import yaml
from markupsafe import Markup

from xling.core.errors import InputError
from xling.report.page.files import Files

SVG, HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
NOT_ESCAPED = " !$'()*+,/:;=?@[]<>|^`{}~"  # characters that a data URL may contain; a quarter less text than base64
ElementTree.register_namespace("", SVG[1:-1])
LARGEST_DRAWING = 400_000  # bytes; a larger drawing (SVG) takes more space than its picture (PNG)
HEADLINES = ("kept", "figure3", "figure6", "figure7", "training")  # the first figure that has data opens the page
CAPTIONS: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("captions.yaml").read_text("utf-8"))


def find_figures(folders: Iterable[Path], only: Collection[str] = ()) -> dict[str, Path]:
    """Return the figures in the folders, or only those named, in page order: the SVG file unless it is too large."""
    found = {}
    for name in (name for name in CAPTIONS if not only or name in only):
        files = [folder / f"{name}{suffix}" for folder in folders for suffix in (".svg", ".png")]
        files = [path for path in files if path.exists()]
        if files:
            found[name] = next((path for path in files if path.stat().st_size <= LARGEST_DRAWING), files[-1])
    return found


def galleries(ours: Mapping[str, Path], papers: Mapping[str, Path], files: Files) -> dict[str, Any]:
    """Return the figures by section, each with the paper's version below it; the `first` figure; `missing` titles."""
    sections: dict[str, Any] = {caption["section"]: [] for caption in CAPTIONS.values()}
    first = next((name for name in HEADLINES if name in ours and shows_something(ours[name])), None)
    for name, path in ours.items():
        section = sections[CAPTIONS[name]["section"]]
        if name != first and shows_something(path):
            section.append(_figure(name, path, files))
        if name in papers:
            section.append(_figure(name, papers[name], files, ", from the paper's published numbers") | {"id": None})
    missing = [own for name, own in CAPTIONS.items() if name not in ours and "optional" not in own]
    return {
        **sections,
        "first": _figure(first, ours[first], files) if first else None,
        "missing": [caption["title"] for caption in missing],
    }


def shows_something(path: Path) -> bool:
    """Return whether a figure has data; a figure without data has a text instead that says why."""
    numbers = path.with_suffix(".csv")
    return not numbers.is_file() or len(numbers.read_text(encoding="utf-8").splitlines()) > 1


def _figure(name: str, path: Path, files: Files, addition: str = "") -> dict[str, Any]:
    about = CAPTIONS[name]
    return {
        "id": f"figure-{name.replace('_', '-')}",
        "title": f"{about['title']}{addition}",
        "caption": "" if addition else about["caption"],
        "alt": about["paper"] if addition and "paper" in about else about["alt"],
        "source": embedded(path),
        "links": files.of(path),
    }


# --- pictures embedded in the page ------------------------------------------------------------------------------------


def embedded(path: Path) -> Markup:
    """Return a PNG or SVG file as a data URL, which needs no further escaping between double quotes."""
    if path.suffix == ".png":
        return Markup(f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode('ascii')}")  # noqa: S704
    try:
        text = light(path.read_text(encoding="utf-8"))
    except ElementTree.ParseError as error:
        raise InputError(path, f"no drawing: {error}") from None
    quoted = quote(text.replace("'", "&apos;").replace('"', "'"), NOT_ESCAPED)
    return Markup(f"data:image/svg+xml,{quoted}")  # noqa: S704


def light(text: str) -> str:
    """Return an SVG drawing by matplotlib with the same appearance and about half the bytes.

    Numbers keep four digits, each style is written once, and unused groups, ids and metadata are removed.
    """
    root = ElementTree.fromstring(text)  # noqa: S314 (drawn by us)
    referred = dict.fromkeys(re.findall(r'(?:href="|url\()#([^")]+)', text))
    names = {name: f"i{place}" for place, name in enumerate(referred)}
    classes: dict[str, str] = {}
    _lighten(root, names, classes)
    rules = "".join(f".{name}{{{style}}}" for style, name in classes.items())
    style = root.find(f"{SVG}defs/{SVG}style")
    if style is None:
        style = ElementTree.SubElement(root, f"{SVG}style")
    style.text = f"{style.text or ''}{rules}"
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def _lighten(element: Element, names: dict[str, str], classes: dict[str, str]) -> None:
    """Lighten an element and its children; the horizontal translation of a letter becomes its x attribute."""
    given = dict(element.attrib)
    element.attrib.clear()
    for key, value in given.items():
        value = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.4g}", " ".join(value.split()))
        value = re.sub(r"url\(#(.+?)\)", lambda found: f"url(#{names[found[1]]})", value)  # hatching and clipping
        if key == "style":
            key, value = "class", classes.setdefault(value, f"c{len(classes)}")
        elif key == HREF:
            key, value = "href", f"#{names[value[1:]]}" if value.startswith("#") else value
        elif key == "d":
            value = re.sub(r" ?([A-Za-z]) ?", r"\1", value)
        elif element.tag == f"{SVG}use" and (moved := re.fullmatch(r"translate\((\S+) 0\)", value)):
            key, value = "x", f"{float(moved[1]):.0f}"  # in hundredths of the size of the letter
        if key != "id" or value in names:
            element.set(key, names[value] if key == "id" else value)
    element.tail = None
    if element.tag != f"{SVG}style":
        element.text = None
    kept: list[Element] = []
    for child in element:
        _lighten(child, names, classes)
        if child.tag == f"{SVG}g" and not child.attrib:
            kept += child
        elif child.tag != f"{SVG}metadata":
            kept.append(child)
    element[:] = kept
