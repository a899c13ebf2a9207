"""HTML as values: every string that is not Html already is escaped, so text can never become markup."""

from collections.abc import Iterable
from html import escape

VOID = {"img", "meta", "br", "hr"}
# A page may show any text, but these characters are no characters of an HTML document.
FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "�")
FORBIDDEN |= dict.fromkeys((*range(55296, 57344), 65534, 65535), "�")


class Html(str):
    """Text that is markup and is not escaped again."""

    __slots__ = ()


Child = str | Iterable[str] | None


def el(name: str, /, *children: Child, **attributes: object) -> Html:
    """Return an element; a trailing underscore of an attribute is dropped, inner ones are hyphens, None and False too.

    True gives an attribute without a value.
    """
    head = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Html(head) if name in VOID else Html(f"{head}{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """Return pieces one after the other, escaped where they are not markup."""
    return Html("".join(_text(piece) for child in children for piece in _pieces(child)))


def fact(term: str, text: str) -> Html:
    """Return one entry of a list of facts."""
    return el("div", el("dt", term), el("dd", text))


def clean(text: str) -> str:
    """Return text without the characters that an HTML document must not hold."""
    return text.translate(FORBIDDEN)


def _pieces(child: Child) -> Iterable[str]:
    if child is None:
        return ()
    return (child,) if isinstance(child, str) else child


def _text(piece: str) -> str:
    return piece if isinstance(piece, Html) else escape(clean(piece), quote=False)


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(clean(str(value)))}"'
