"""Pictures as a page holds them: inside its own text, drawings without what no reader sees."""

import base64
import re
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from markupsafe import Markup

from xling.core.errors import InputError

SVG, HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
NOT_ESCAPED = " !$'()*+,/:;=?@[]<>|^`{}~"  # in an address of data; a quarter less text than base64
ElementTree.register_namespace("", SVG[1:-1])


def embedded(path: Path) -> Markup:
    """Return a PNG or SVG file as the address of an image, which needs no further escaping between double quotes."""
    if path.suffix == ".png":
        return Markup(f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode('ascii')}")  # noqa: S704
    try:
        text = light(path.read_text(encoding="utf-8"))
    except ElementTree.ParseError as error:
        raise InputError(path, f"no drawing: {error}") from None
    quoted = quote(text.replace("'", "&apos;").replace('"', "'"), NOT_ESCAPED)
    return Markup(f"data:image/svg+xml,{quoted}")  # noqa: S704


def light(text: str) -> str:
    """Return a drawing of matplotlib's that looks the same in half the bytes.

    Numbers keep four digits, each style is written once, and groups, names and notes that nothing refers to go.
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
    """Lighten an element and what is in it; a letter's place, a translation to the right, becomes its x."""
    given = dict(element.attrib)
    element.attrib.clear()
    for key, value in given.items():
        value = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.4g}", " ".join(value.split()))
        value = re.sub(r"url\(#(.+?)\)", lambda found: f"url(#{names[found[1]]})", value)  # of hatching and clipping
        if key == "style":
            key, value = "class", classes.setdefault(value, f"c{len(classes)}")
        elif key == HREF:
            key, value = "href", f"#{names[value[1:]]}" if value.startswith("#") else value
        elif key == "d":
            value = re.sub(r" ?([A-Za-z]) ?", r"\1", value)
        elif element.tag == f"{SVG}use" and (moved := re.fullmatch(r"translate\((\S+) 0\)", value)):
            key, value = "x", f"{float(moved[1]):.0f}"  # in hundredths of its size
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
