"""Moses normalisation and tokenisation with the output of sacremoses, line for line, in a seventh of its time.

sacremoses spends its time on about eighty substitutions per line, of which few can match, and on sets of thousands of
characters built anew for every word that ends in a full stop. Here the normaliser looks for the text that a
substitution needs before running it, and the tokeniser remembers what becomes of a stretch between spaces. That is
safe because the rules look across a space in three cases only: a full stop looks at the next character (three answers
are remembered), apostrophes that face each other over a space or stand at an end of the line, and a comma that starts
the line (such lines go through sacremoses whole).
"""

import re
from collections.abc import Callable
from functools import lru_cache

from sacremoses import MosesPunctNormalizer, MosesTokenizer
from sacremoses.corpus import NonbreakingPrefixes

from xling.core.errors import XlingError

CACHE_WORDS = 1 << 19  # about 100 MB
Substitution = tuple[str, Callable[[str], str]]

# Control characters that are white space: sacremoses deletes them, which would glue two words together.
CONTROL_SPACES = {ord(character): " " for character in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85"}
CONTROL_SPACE = re.compile("[\t\n\v\f\r\x1c-\x1f\x85]")
NOT_LITERAL = re.compile(r"(?<!\\)\((?:\\.|[^()\\])*\)|\[[^\]]*\]|\\[dDsSwW][*+]?")
OPERATOR = re.compile(r"(?<!\\)[*+?{}|^$.]")


class Moses:
    """Normalises and tokenises lines of one language; `finish` is applied to the words (lower-casing)."""

    def __init__(self, language: str, finish: Callable[[str], str] = str) -> None:
        known = sorted(set(NonbreakingPrefixes().available_langs.values()))
        if language not in known:  # sacremoses would quietly use the English rules
            raise XlingError(f"moses: {language!r} is not a language of sacremoses (one of {', '.join(known)})")
        self._finish = finish
        self.tokeniser = QuickTokenizer(language)
        self._words, self._before = (lru_cache(CACHE_WORDS)(work) for work in (self._find_words, self._ask))
        # As in XLM's script: plain punctuation, then no non-printing characters.
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
            if stretches[here][-1] == ".":  # it stays on the word where the next character says so
                following = stretches[here + 1][0]
                if following in self.tokeniser.lower:
                    words[here] = self._before(stretches[here], "x")
                elif following in "0123456789":
                    words[here] = self._before(stretches[here], "1")
        return " ".join(filter(None, words))

    def _find_words(self, stretch: str) -> str:
        """Return what becomes of a stretch between spaces when a capital or a symbol follows."""
        parts = self.tokeniser.PAD_NOT_ISALNUM[0].split(stretch)  # text, symbol, text, …: a symbol is a word
        if len(parts) == 1:  # letters and digits, perhaps with one comma or full stop at the end; the rest is asked for
            body, end = stretch[:-1], stretch[-1]
            if "'" in stretch or "." in body or "," in body or not (body or end.isalnum()):
                return self._ask(stretch, "X")
            parted = end == "," or (end == "." and body not in self.tokeniser.keep_stop)
            return self._finish(f"{body} {end}" if parted else stretch)
        if not self.tokeniser.lower.isdisjoint(parts[1::2]):  # small letters unknown to sacremoses' alphabet
            return self._ask(stretch, "X")
        return " ".join(self._finish(part) if i % 2 else self._words(part) for i, part in enumerate(parts) if part)

    def _ask(self, stretch: str, following: str) -> str:
        """Return what sacremoses makes of a stretch that a word like `following` comes after."""
        return self._finish(" ".join(self.tokeniser.tokenize(f"x {stretch} {following}", escape=False)[1:-1]))


class QuickTokenizer(MosesTokenizer):  # type: ignore[misc]
    """sacremoses' tokeniser with its sets of characters and prefixes made once.

    Its class of symbols lists letters one by one, those beyond U+FFFF are searched in a row: ranges make it quick.
    """

    def __init__(self, language: str) -> None:
        super().__init__(lang=language)
        self.lower, self.alpha = frozenset(self.IsLower), frozenset(self.IsAlpha)
        self.PAD_NOT_ISALNUM = re.compile(rf"([^{as_ranges(self.IsAlnum)}\s\.'\`\,\-])"), r" \1 "
        for prefixes in ("NONBREAKING_PREFIXES", "NUMERIC_ONLY_PREFIXES"):  # lists that are searched for every word
            setattr(self, prefixes, frozenset(getattr(self, prefixes)))
        self.keep_stop = self.NONBREAKING_PREFIXES - self.NUMERIC_ONLY_PREFIXES

    def islower(self, text: str) -> bool:
        """Return whether every character is a small letter."""
        return self.lower.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        """Return whether any character is a letter."""
        return not self.alpha.isdisjoint(text)


def spaced(text: str) -> str:
    """Return the text with a space for every control character that is white space."""
    return text.translate(CONTROL_SPACES) if CONTROL_SPACE.search(text) else text


def needs_whole_line(text: str, stretches: list[str]) -> bool:
    """Return whether a rule of the tokeniser may look beyond one stretch (see the top of this module)."""
    if text[0] == "," or "MULTI" in text:  # DOTMULTI is sacremoses' own mark for dots
        return True
    return "'" in text and (text[0] == "'" or text[-1] == "'" or "' '" in " ".join(stretches))


def substitution(pattern: str, replacement: str) -> Substitution:
    """Return the text a substitution of sacremoses cannot do without, and the substitution."""
    pattern = pattern.replace(r"\r", "\r")  # the one escape that stands for another character
    needed = "  " if (pattern, replacement) == (" +", " ") else needed_text(pattern)  # one space stays one space
    if needed == re.sub(r"\\(.)", r"\1", pattern) and "\\" not in replacement:
        return needed, lambda text: text.replace(needed, replacement)
    compiled = re.compile(pattern)
    return needed, lambda text: compiled.sub(replacement, text)


def needed_text(pattern: str) -> str:
    """Return the longest text that every match of a simple pattern holds, empty where that is not plain to see."""
    bare = NOT_LITERAL.sub("\0", pattern)
    if OPERATOR.search(bare):
        return ""
    return max(re.sub(r"\\(.)", r"\1", bare).split("\0"), key=len)


def as_ranges(characters: str) -> str:
    """Return the inside of a character class that holds these letters and digits."""
    codes = sorted(set(map(ord, characters)))
    starts = [code for i, code in enumerate(codes) if i == 0 or codes[i - 1] != code - 1]
    ends = [code for i, code in enumerate(codes) if i == len(codes) - 1 or codes[i + 1] != code + 1]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))
