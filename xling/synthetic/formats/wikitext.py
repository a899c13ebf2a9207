"""Wiki markup around prose, as in real dumps; if a reader strips it, exactly the paragraphs remain.

Inline markup encloses words or is inserted between characters. All other markup is on separate lines.
"""

import re
from collections.abc import Sequence
from random import Random

WORD = re.compile(r"(?<![\w'’])[^\W\d_]{2,}(?![\w'’])")
SPACE_AFTER_NUMBER = re.compile(r"(?<=\d) (?=\w)")
LONGEST_LABEL_WITHOUT_SPACES = 3  # in characters; without spaces, a run of letters is a whole clause
LINKS_PER_PARAGRAPH = 3
FILE, CATEGORY = 6, 14  # numbers of two namespaces

Namespaces = dict[int, str]  # names of a language edition's namespaces, by number
Edit = tuple[int, int, str]  # start, end, replacement


def article(paragraphs: Sequence[str], title: str, others: Sequence[str], names: Namespaces, rng: Random) -> str:
    """Return the wikitext of one article; `others` are the titles of pages to which it may link."""
    blocks = [_top(title, others, names, rng)]
    for number, paragraph in enumerate(paragraphs):
        if number and rng.random() < 0.4:
            marks = "=" * rng.choice((2, 2, 3))
            word = WORD.search(paragraph)
            blocks.append(f"{marks} {word.group()[:12].capitalize() if word else paragraph[:2]} {marks}")
        blocks.append(mark_up(paragraph, title if number == 0 else "", others, rng))
        if rng.random() < 0.35:
            blocks.append(_block(others, names, rng))
    blocks.append(_bottom(others, names, rng))
    return "\n\n".join(blocks)


def mark_up(paragraph: str, title: str, others: Sequence[str], rng: Random) -> str:
    """Return a paragraph with links, emphasis, notes and entities; if `title` is given, it is made bold."""
    edits = _bold(paragraph, title) if title else []
    free_from = edits[0][1] if edits else 0
    words = [match for match in WORD.finditer(paragraph) if match.start() >= free_from]
    for match in rng.sample(words, min(len(words), rng.randint(1, LINKS_PER_PARAGRAPH))):
        edits.append(_link(match, others, rng))
    if (space := SPACE_AFTER_NUMBER.search(paragraph)) and rng.random() < 0.3:
        edits.append((space.start(), space.end(), "&nbsp;"))
    if words and rng.random() < 0.3:
        edits.append((words[-1].end(), words[-1].end(), _note(others, rng)))
    if rng.random() < 0.3:
        edits.append((len(paragraph), len(paragraph), _note(others, rng)))
    parts: list[str] = []
    done = 0
    for start, end, replacement in sorted(edits):
        if start >= done:  # an edit that overlaps an earlier one is left out
            parts += [paragraph[done:start], replacement]
            done = end
    return "".join(parts) + paragraph[done:]


def _bold(paragraph: str, title: str) -> list[Edit]:
    """Make the title bold if it occurs as a word, otherwise the first word; "Name (kind)" is "Name" in prose."""
    name = title.partition(" (")[0].strip("'’")  # beside the three of bold type, an apostrophe would be markup
    start = paragraph.find(name)
    end = start + len(name)
    around = paragraph[max(0, start - 1) : start] + paragraph[end : end + 1]
    if start < 0 or "'" in around or "’" in around or (" " in paragraph and any(map(str.isalnum, around))):
        first = WORD.search(paragraph)
        start, end = first.span() if first else (0, 0)
    return [(start, end, f"'''{paragraph[start:end]}'''")] if end else []


def _link(match: re.Match[str], others: Sequence[str], rng: Random) -> Edit:
    start, end = match.span()
    if " " not in match.string:
        start = rng.randrange(start, end - 1)
        end = min(end, start + rng.randint(1, LONGEST_LABEL_WITHOUT_SPACES))
    label = match.string[start:end]
    target = rng.choice(others)
    forms = (
        f"[[{label}]]",
        f"[[{target}|{label}]]",
        f"[[{target}#{label}|''{label}'']]",
        f"''{label}''",
        f'<span style="color:#333">{label}</span>',
    )
    return start, end, rng.choices(forms, weights=(4, 4, 1, 1, 1))[0]


def _note(others: Sequence[str], rng: Random) -> str:
    """Return inline markup that is not prose, such as a reference or a comment."""
    title, number = rng.choice(others), rng.randint(1900, 2019)
    return rng.choice(
        (
            f"<ref>{{{{cite book |title={title} |year={number} |author=[[{title}]]}}}}</ref>",
            f"<ref name=\"n{number}\">{title}, ''{number}''.</ref>",
            f"<ref name=n{number} />",
            f"<!-- {title} {number} -->",
            f"{{{{fact|date={{{{date|{number}}}}}}}}}",
            f'<ref group="note">[http://example.org/{number} {title}]</ref><ref name="n{number}"/>',
        )
    )


def _top(title: str, others: Sequence[str], names: Namespaces, rng: Random) -> str:
    first, second = rng.choice(others), rng.choice(others)
    infobox = (
        f"{{{{Infobox\n| name = {title}\n| image = {title}.jpg\n| born = {{{{date|{rng.randint(1800, 1999)}|1|1}}}}\n"
        f"| place = [[{first}|{second}]]<br />{{{{flag|{{{{lc:{first}}}}}}}}}\n}}}}"
    )
    notice = f"{{{{about|{first}|{second}}}}}\n__NOTOC__"
    picture = f"[[{names[FILE]}:{title}.jpg|thumb|200px|{first} ([[{second}]])]]"
    return rng.choices((infobox, notice, picture, f"{notice}\n{infobox}"), weights=(4, 1, 2, 1))[0]


def _bottom(others: Sequence[str], names: Namespaces, rng: Random) -> str:
    space = rng.choice((names[CATEGORY], "Category"))  # every wiki understands the English names too
    references = rng.choice(("<references />", "{{reflist|2}}", "{{Reflist|refs=\n{{cite|x}}\n}}"))
    links = "\n".join(f"* [[{title}]]" for title in rng.sample(others, min(2, len(others))))
    first, second = rng.choice(others), rng.choice(others)
    category = f"[[{space}:{first}]]\n[[{space}:{second}| ]]"
    return f"== {first} ==\n{links}\n\n== {second} ==\n{references}\n\n{{{{stub}}}}\n{category}"


def _block(others: Sequence[str], names: Namespaces, rng: Random) -> str:
    """Return a block between paragraphs: a picture, table, gallery, list or formula."""
    first, second, number, file = rng.choice(others), rng.choice(others), rng.randint(2, 99), names[FILE]
    inner = f"{{|\n| {first} || {number}\n|}}"
    return rng.choice(
        (
            f"[[{file}:{first}.png|thumb|left|{first}: [[{second}|''{second}'']] & [[{first}]]]]",
            f"[[Image:{first}.svg|{number}px|{first}]]",
            f'{{| class="wikitable"\n|+ {first}\n! {first} !! {second}\n|-\n| [[{second}]] || {number}\n|}}',
            f'{{|\n|-\n| colspan="2" |\n{inner}\n|}}',
            f"<gallery>\n{file}:{first}.jpg|[[{second}]]\n{file}:{second}.jpg|{first}\n</gallery>",
            f"* [[{first}]] {number}\n** [[{second}]]",
            f"# {first}\n## [[{second}|{number}]]",
            f"; {first}\n: {second} ({number})",
            f":<math>x^{number} + \\frac{{y}}{{z}} < {number}</math>",
        )
    )
