"""The Markdown that our own pages use: headings, paragraphs, lists, tables, code, emphasis.

Links keep their words only: the page stands alone, so there is nothing beside it to go to.
"""

import re
from collections.abc import Iterator, Sequence

from xling.report.html.markup import Html, el, join
from xling.report.html.tables import prose_table

INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>.+?)\*\*|(?<![\w*])\*(?P<em>[^*\s][^*]*?)\*(?![\w*])|\[(?P<link>[^\]]*)\]\([^)]*\)"
)
FENCE, BULLETS = "```", ("- ", "* ")
TOP_HEADING = 3  # a page stands in a section of the report, whose title is an h2
ESCAPED = re.compile(r"\\([\\|*_`\[\]])")


def markdown(text: str) -> Html:
    """Return a page as HTML, its headings below those of the section that it stands in."""
    return join(_block(block) for block in _blocks(text.splitlines()))


def inline(text: str) -> Html:
    """Return a line with its code, emphasis and links."""
    pieces: list[str] = []
    end = 0
    for match in INLINE.finditer(text):
        pieces += [_plain(text[end : match.start()]), _marked(match)]
        end = match.end()
    return join([*pieces, _plain(text[end:])])


def _marked(match: re.Match[str]) -> Html:
    kind = match.lastgroup or "link"
    if kind == "code":
        return el("code", match["code"].replace(r"\|", "|"))
    return inline(match[kind]) if kind == "link" else el(kind, inline(match[kind]))


def _plain(text: str) -> str:
    return ESCAPED.sub(r"\1", text)


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in [*lines, ""]:
        inside = bool(block) and block[0].startswith(FENCE)
        if inside and not line.startswith(FENCE):
            block.append(line)
            continue
        if block and (inside or not line.strip() or line.startswith(("#", FENCE))):
            yield block
            block = []
        if line.startswith("#"):
            yield [line]
        elif line.strip() and not inside:
            block.append(line)
    if block:
        yield block


def _block(block: Sequence[str]) -> Html:
    first = block[0].lstrip()
    if first.startswith(FENCE):
        return el("pre", el("code", "\n".join(block[1:])), tabindex="0")
    if first.startswith("#"):
        depth = len(first) - len(first.lstrip("#"))
        return el(f"h{min(TOP_HEADING + depth - 1, 6)}", inline(first.lstrip("# ")))
    if first.startswith("|") and len(block) > 1:
        return _table(block)
    if first.startswith(BULLETS):
        return el("ul", [el("li", inline(item)) for item in _items(block)])
    return el("p", inline(" ".join(line.strip() for line in block)))


def _items(block: Sequence[str]) -> list[str]:
    items: list[str] = []
    for line in block:
        if line.lstrip().startswith(BULLETS):
            items.append(line.lstrip()[2:])
        else:
            items[-1] += f" {line.strip()}"
    return items


def _table(block: Sequence[str]) -> Html:
    head, _, *rows = ([inline(cell.strip()) for cell in _cells(line)] for line in block)
    return prose_table(head, rows, label="choices")


def _cells(line: str) -> list[str]:
    return re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
