"""The quick path gives what plain calls of sacremoses give, line for line."""

import sys
from functools import cache
from itertools import islice

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacremoses import MosesPunctNormalizer, MosesTokenizer

from xling.core.io import read_lines
from xling.tokenization.moses import Moses, spaced

LANGUAGES = ("en", "fr", "de", "ru", "zh")
# What the rules look at: quotes, stops, commas, brackets, digits, odd spaces, controls, prefixes, other letters.
PARTS = [
    *"'\",.-()[]<>;:!?%/&`´‘’‚„“”«»–—…。，：「」５．\u00a0\u2003\u00ad\u200b\t\r\x1c\x85 ",
    *["a", "B", "é", "й", "Ж", "漢", "字", "5", "42", "3.14", "1,000", "x.y", "U.S.", "..", "...", "....", "''", "' '"],
    *["Mr.", "No.", "no.", "Nr.", "St.", "etc.", "p.", "т.", "г.", "ул.", "M.", "don't", "l'homme", "5's", "'tis"],
    *["DOTMULTI", "DOTDOTMULTI", "MULTI", "nº\u00a0", "\u00a0ºC", "ⓐ", "𝑎", "Σ", "ʼ", "e\u0301", "--", "http://a.b/c"],
]
LINES = st.lists(st.sampled_from(PARTS) | st.characters(codec="utf-8"), max_size=24).map("".join)


quick = cache(Moses)


@cache
def plain(language):
    normaliser = MosesPunctNormalizer(language, pre_replace_unicode_punct=True, post_remove_control_chars=True)
    return normaliser, MosesTokenizer(language)


def plain_line(language, line):
    normaliser, tokeniser = plain(language)
    return " ".join(tokeniser.tokenize(normaliser.normalize(spaced(line)), escape=False))


@settings(max_examples=120)
@given(language=st.sampled_from(LANGUAGES), line=LINES)
@example("en", "5' '6 a. b. C. 5")  # rules that look across a space
@example("fr", "',5 x' 'y z.'")
@example("de", 'a."𝑎 b. 𝑎 No. 5 no. Five U.S. x')
@example("ru", "a,,b 5,,6 ,5 , ,a 5,a a,5,")
def test_same_output_on_any_text(language, line):
    assert quick(language).line(line) == plain_line(language, line)
    assert quick(language).normalise(line) == plain(language)[0].normalize(spaced(line))


@pytest.mark.real_data
@pytest.mark.parametrize("language", ["en", "fr", "de", "ru"])
def test_same_output_on_real_text(real_data, language):
    paths = sorted((real_data / "text").glob(f"*.{language}.txt.xz"))
    lines = [line[:1000] for path in paths for line in islice(read_lines(path), 80)]
    assert len(lines) >= 200
    assert [line for line in lines if quick(language).line(line) != plain_line(language, line)] == []


def test_tabs_part_words_soft_hyphens_do_not_and_finish_is_applied_to_every_word():
    assert quick("en").line("one\ttwo co\u00adop") == "one two coop"
    line = "The U.S. Army's \"ΟΔΟΣ\" in St. Louis, etc. and 'MULTI'"
    assert Moses("en", str.lower).line(line) == plain_line("en", line).lower()


def test_printable_text_has_nothing_for_sacremoses_to_remove():
    printable = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    assert plain("en")[0].remove_control_chars(printable) == printable
