"""Paragraphs from the lines of wikitext whose inner markup is removed, and repair of the gaps that removal leaves.

A list item is kept as a paragraph if it looks like a sentence: it ends like a sentence and has enough words. Other
items (names, titles, links) are dropped, because outside their list they teach a language model little.
"""

import re
from collections.abc import Callable, Iterator

from xling.data.lines import clean_line
from xling.data.wikitemplates import GAP

MIN_ITEM_WORDS = 5
MIN_ITEM_IDEOGRAPHS = 8

_HEADING = re.compile(r"=.*=$")
_RULE = re.compile(r"-{4,}")
_SENTENCE_END = re.compile(r"[.!?…;:。！？；：][\"'»”’“)\]）」』》]*$")
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WIDE = r"\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_WIDE_CHARACTER = re.compile(f"[{_WIDE}]")
_WORD = re.compile(r"\w")
_BOLD = re.compile(r"(?<!')'''(?!')")
_LONG_QUOTES = re.compile(r"'{4,}")

# If possible, patterns start with the gap: a search for one character is much faster than for a character class.
_COMMAS = r"\s\x00,;:，；：、"
_EMPTY_PARENTHESES = re.compile(rf"\((?=[^()]*\x00)[{_COMMAS}/–—-]*\)|（(?=[^（）]*\x00)[{_COMMAS}/–—-]*）")
_AFTER_OPENING = re.compile(rf"([(（])[\s,;:，；：、]*\x00[{_COMMAS}]*")
_CLOSING_FOLLOWS = re.compile(rf"\x00[{_COMMAS}]*[)）]")
_BEFORE_CLOSING = re.compile(rf"[\s,;:，；：、]*\x00[{_COMMAS}]*([)）])")
_STOP_FOLLOWS = re.compile(r"\x00[\x00\s]*[.,;，。；：、]")
_REPEATED_COMMA = re.compile(r"([,;，；、])(?:\s*\x00+\s*[,;，；、])+")
_BEFORE_STOP = re.compile(r"[ \xa0]+\x00[\x00 \xa0]*(?=[.,，。；：、])")
_COMMA_BEFORE_STOP = re.compile(r"[,;:，；：、]\s*\x00[\x00\s]*(?=[.。])")
_AT_START = re.compile(rf"\s*\x00[{_COMMAS}.。)）]*")
_BEFORE_WORD = re.compile(rf"\x00+(?=[^\W_])(?![{_WIDE}])")
_LEFTOVER = re.compile(r"\{\{+|\}\}+|\[\[+|\]\]+|\{\||\|\}|\|-|</?(?:ref|nowiki)(?:[^<>]*>)?|<!--|-->", re.IGNORECASE)


def paragraphs_of(text: str, unescape: Callable[[str], str]) -> Iterator[str]:
    """Yield plain paragraphs: consecutive lines form one; a blank line, a heading or a list item ends it."""
    for block in _blocks(text):
        plain = unescape(block)
        plain = clean_line(_tidy(plain) if GAP in plain else plain)
        while _LEFTOVER.search(plain):
            plain = clean_line(_LEFTOVER.sub("", plain))
        if plain and _WORD.search(plain):
            yield plain


def _blocks(text: str) -> Iterator[str]:
    running: list[str] = []
    for raw in text.split("\n"):
        line = raw.strip(" \t\x00\xa0")
        item = None if line and line[0] not in "*#:;|=-" else _item(line)
        if item is None:
            running.append(_without_quotes(raw) if "''" in raw else raw)
            continue
        if running:
            yield _joined(running)
            running = []
        if item:
            yield item
    if running:
        yield _joined(running)


def _item(line: str) -> str | None:
    """Return the text of a list item to keep, "" for a line to drop, or None for a line that is prose."""
    if not line or line[0] == "|" or _RULE.match(line) or _HEADING.match(line):
        return ""
    if line[0] in "=-":
        return None
    body = _without_quotes(line.lstrip("*#:; \t\x00"))
    bare = body.strip(" \t\x00")
    long = len(bare.split()) >= MIN_ITEM_WORDS or len(_IDEOGRAPH.findall(bare)) >= MIN_ITEM_IDEOGRAPHS
    return body if long and _SENTENCE_END.search(bare[-9:]) else ""


def _joined(lines: list[str]) -> str:
    """Join the lines of a paragraph with spaces, but without a space between Chinese or Japanese characters."""
    joined = [lines[0]]
    for line in lines[1:]:
        before, after = joined[-1].rstrip(), line.lstrip()
        wide = _WIDE_CHARACTER.match(before[-1:]) and _WIDE_CHARACTER.match(after)
        joined += ("" if wide else " ", after)
    return "".join(joined)


def _without_quotes(line: str) -> str:
    """Remove bold and italic quotes; like MediaWiki, guess which quotes are apostrophes (L'''Émile'').

    The first of four quotes is an apostrophe, as are all but the last five of more than five. If the numbers of bold
    and of italic marks are both odd, one bold mark is an apostrophe plus an italic mark: the first after a one-letter
    word, otherwise the first after a longer word, otherwise the first.
    """
    if "''''" in line:
        line = _LONG_QUOTES.sub(lambda run: "\x01" * (len(run[0]) - 5) + "'" * 5 if run[0][4:] else "\x01'''", line)
    bold = line.count("'''")
    if bold % 2 and (line.count("''") - bold) % 2:
        starts = [run.start() for run in _BOLD.finditer(line)]
        in_word = [at for at in starts if at and line[at - 1] != " "]
        one_letter = [at for at in in_word if at == 1 or line[at - 2] == " "]
        for at in [*one_letter, *in_word, *starts][:1]:
            line = f"{line[:at]}\x01{line[at + 3 :]}"
    return line.replace("'''", "").replace("''", "").replace("\x01", "'")


def _tidy(text: str) -> str:
    """Close the gaps: remove empty parentheses, commas and spaces that belonged to removed markup."""
    if "(" in text or "（" in text:
        text = _AFTER_OPENING.sub(r"\1", _EMPTY_PARENTHESES.sub(GAP, text))
    if _CLOSING_FOLLOWS.search(text):
        text = _BEFORE_CLOSING.sub(r"\1", text)
    if _STOP_FOLLOWS.search(text):
        text = _BEFORE_STOP.sub("", _COMMA_BEFORE_STOP.sub(GAP, _REPEATED_COMMA.sub(r"\1", text)))
    if found := _AT_START.match(text):
        text = text[found.end() :]

    def between_words(gap: re.Match[str]) -> str:
        before = gap.string[gap.start() - 1 : gap.start()]
        return " " if before.isalnum() and not _WIDE_CHARACTER.match(before) else ""

    return _BEFORE_WORD.sub(between_words, text).replace(GAP, "")
