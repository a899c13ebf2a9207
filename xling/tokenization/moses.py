"""Moses normalisation and tokenisation: the same output as sacremoses for every line, seven times as fast.

sacremoses spends its time on about eighty substitutions per line, few of which can match, and on sets of thousands of
characters that it rebuilds for every word that ends in a full stop. Here the normaliser runs a substitution only if the
text contains a string that every match needs. The tokeniser caches the result for each stretch of text between spaces.
That is safe because the rules look beyond a space in three cases only. The result for a final full stop depends on the
next character: three variants are cached. Lines in which apostrophes face each other across a space or stand at an end
of the line, and lines that start with a comma, are passed to sacremoses whole.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from sacremoses import MosesPunctNormalizer, MosesTokenizer
from sacremoses.corpus import NonbreakingPrefixes

from xling.core.errors import XlingError

CACHE_WORDS = 1 << 19  # about 100 MB
Substitution = tuple[str, Callable[[str], str]]

# Control characters that are white space: sacremoses deletes them, which would join two words.
CONTROL_SPACES = {ord(character): " " for character in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85"}
CONTROL_SPACE = re.compile("[\t\n\v\f\r\x1c-\x1f\x85]")
NOT_LITERAL = re.compile(r"(?<!\\)\((?:\\.|[^()\\])*\)|\[[^\]]*\]|\\[dDsSwW][*+]?")
OPERATOR = re.compile(r"(?<!\\)[*+?{}|^$.]")


class Moses:
    """Normalises and tokenises lines of one language; `finish` is applied to the words, for example lower-casing."""

    def __init__(self, language: str, finish: Callable[[str], str] = str) -> None:
        known = sorted(set(NonbreakingPrefixes().available_langs.values()))
        if language not in known:  # sacremoses would quietly use the English rules
            raise XlingError(f"moses: {language!r} is not a language of sacremoses (one of {', '.join(known)})")
        self._finish = finish
        self.tokeniser = QuickTokenizer(language)
        self._words, self._before = (lru_cache(CACHE_WORDS)(work) for work in (self._find_words, self._ask))
        # As in XLM's script: replace Unicode punctuation, then remove non-printing characters.
        self._normaliser = MosesPunctNormalizer(
            language, pre_replace_unicode_punct=True, post_remove_control_chars=True
        )
        self.pairs = [*self._normaliser.REPLACE_UNICODE_PUNCTUATION, *self._normaliser.substitutions]
        self._steps = [substitution(pattern, replacement) for pattern, replacement in self.pairs]
        self._ascii_steps = [step for step in self._steps if step[0].isascii()]

    def normalise(self, text: str) -> str:
        """Return the text with plain punctuation and without non-printing characters."""
        if not text.isprintable():
            text = spaced(text)
        for needed, substitute in self._ascii_steps if text.isascii() else self._steps:
            if needed in text:
                text = substitute(text)
        if not text.isprintable():
            text = self._normaliser.remove_control_chars(text)
        return text.strip()

    def line(self, text: str) -> str:
        """Return the words of a text, joined by spaces."""
        text = self.normalise(text)
        stretches = text.split()
        if not stretches or needs_whole_line(text, stretches):
            return self._finish(" ".join(self.tokeniser.tokenize(text, escape=False)))
        words = list(map(self._words, stretches))
        for here in range(len(stretches) - 1) if "." in text else ():
            if stretches[here][-1] == ".":  # the next character decides whether it stays on the word
                following = stretches[here + 1][0]
                if following in self.tokeniser.lower:
                    words[here] = self._before(stretches[here], "x")
                elif following in "0123456789":
                    words[here] = self._before(stretches[here], "1")
        return " ".join(filter(None, words))

    def _find_words(self, stretch: str) -> str:
        """Return the words of a stretch of text between spaces that a capital letter or a symbol follows."""
        parts = self.tokeniser.PAD_NOT_ISALNUM[0].split(stretch)  # text, symbol, text, …; each symbol is a word
        if len(parts) == 1:  # no symbols; handle letters and digits with an optional final , or . here
            body, end = stretch[:-1], stretch[-1]
            if "'" in stretch or "." in body or "," in body or not (body or end.isalnum()):
                return self._ask(stretch, "X")
            parted = end == "," or (end == "." and body not in self.tokeniser.keep_stop)
            return self._finish(f"{body} {end}" if parted else stretch)
        if not self.tokeniser.lower.isdisjoint(parts[1::2]):  # lower-case letters that sacremoses counts as symbols
            return self._ask(stretch, "X")
        return " ".join(self._finish(part) if i % 2 else self._words(part) for i, part in enumerate(parts) if part)

    def _ask(self, stretch: str, following: str) -> str:
        """Return the words that sacremoses finds in a stretch of text if a word like `following` comes next."""
        return self._finish(" ".join(self.tokeniser.tokenize(f"x {stretch} {following}", escape=False)[1:-1]))


class QuickTokenizer(MosesTokenizer):  # type: ignore[misc]
    """The tokeniser of sacremoses, with sets of characters and prefixes that are built only once.

    The original character class lists letters one by one and is slow beyond U+FFFF, so it is rewritten with ranges.
    """

    def __init__(self, language: str) -> None:
        super().__init__(lang=language)
        self.lower, self.alpha = frozenset(self.IsLower), frozenset(self.IsAlpha)
        self.PAD_NOT_ISALNUM = re.compile(rf"([^{as_ranges(self.IsAlnum)}\s\.'\`\,\-])"), r" \1 "
        for prefixes in ("NONBREAKING_PREFIXES", "NUMERIC_ONLY_PREFIXES"):  # originally lists, searched for every word
            setattr(self, prefixes, frozenset(getattr(self, prefixes)))
        self.keep_stop = self.NONBREAKING_PREFIXES - self.NUMERIC_ONLY_PREFIXES

    def islower(self, text: str) -> bool:
        """Return whether every character is a lower-case letter."""
        return self.lower.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        """Return whether any character is a letter."""
        return not self.alpha.isdisjoint(text)


def spaced(text: str) -> str:
    """Return the text with a space in place of each control character that is white space."""
    return text.translate(CONTROL_SPACES) if CONTROL_SPACE.search(text) else text


def needs_whole_line(text: str, stretches: list[str]) -> bool:
    """Return whether a rule of the tokeniser may look across a space, so the line must be tokenised as a whole."""
    if text[0] == "," or "MULTI" in text:  # DOTMULTI is sacremoses' own mark for dots
        return True
    return "'" in text and (text[0] == "'" or text[-1] == "'" or "' '" in " ".join(stretches))


def substitution(pattern: str, replacement: str) -> Substitution:
    """Return a string that every match of a sacremoses substitution contains, and the substitution as a function."""
    pattern = pattern.replace(r"\r", "\r")  # the only escape that stands for another character
    needed = "  " if (pattern, replacement) == (" +", " ") else needed_text(pattern)  # a single space stays as it is
    if needed == re.sub(r"\\(.)", r"\1", pattern) and "\\" not in replacement:
        return needed, lambda text: text.replace(needed, replacement)
    compiled = re.compile(pattern)
    return needed, lambda text: compiled.sub(replacement, text)


def needed_text(pattern: str) -> str:
    """Return the longest literal string that every match of a simple pattern contains; empty for other patterns."""
    bare = NOT_LITERAL.sub("\0", pattern)
    if OPERATOR.search(bare):
        return ""
    return max(re.sub(r"\\(.)", r"\1", bare).split("\0"), key=len)


def as_ranges(characters: str) -> str:
    """Return these letters and digits as ranges for a regular-expression character class."""
    codes = sorted(set(map(ord, characters)))
    starts = [code for i, code in enumerate(codes) if i == 0 or codes[i - 1] != code - 1]
    ends = [code for i, code in enumerate(codes) if i == len(codes) - 1 or codes[i + 1] != code + 1]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))
