"""Text of templates that format words inside a sentence; every other template is removed.

A dump contains template calls, not their expansions, and expanding them needs the whole wiki. The few kinds below have
their text as an argument and occur inside sentences of the five languages; without them, foreign words and quantities
would be missing in the text. Infoboxes, citations, navigation and hatnotes are no prose. Names are in lower case.
"""

import re

GAP = "\x00"  # marks the place of removed markup until the text around it is tidied

_ARGUMENT = re.compile(r"\|(?![^\[\]]*\]\])")
_NUMBERED = re.compile(r"\s*(?:\d|text|texte)\s*=", re.IGNORECASE)
_NAMED = re.compile(r"\s*[\w -]+=")
_ITSELF = re.compile(r"[IVX]+e siècle(?: av\. J\.-C\.)?|Ier|\d+(?:er?|re)")  # {{XXe siècle}}, French
_LITERAL = {"!": "|", "'": "'", ",": "", "-": "", "·": " · ", "nbsp": " ", "ndash": "–", "mdash": "—"}
_LITERAL |= dict.fromkeys(("snd", "spnd", "spaced ndash"), " – ")


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split(", "))


_FIRST = _names(
    "nowrap, nobr, small, smaller, big, vanchor, abbr, tooltip, sub, sup, chem, fchim, angbr, unicode, ipa, petit, "
    "incise, ill, interlanguage link, lien, link-en, link-de, link-fr, link-ru, le, linktext, nihongo, abréviation, "
    "число, нет аи 2, citation needed span, référence nécessaire, référence souhaitée, refnec, passage évasif"
)
_SECOND_OR_FIRST = _names("нп, нп1, нп2, нп3, нп4, нп5, iw, не переведено, не переведено 5")
_LAST = _names("lang, oq, langue, transl, translit, tsl, lang-zh")
_JOINED = _names("date, date-, date de naissance, date de décès, nombre, unité, unité/2, heure, oldstyledate, num")
_QUANTITY = _names("convert, cvt")
_BLOCK = _names("quote, quotation, cquote, blockquote, zitat, цитата, citation bloc, bquote")
_QUOTED = {'"': "„{}“", "citation": "« {} »", "«": "« {} »"}
_CENTURY = _names("s, s-, sp, sp-")
_RANGE = _names("-, –, to, and, or, by, x, ×, +/-, ±")
_KNOWN = _FIRST | _SECOND_OR_FIRST | _LAST | _JOINED | _QUANTITY | _BLOCK | _CENTURY | {*_QUOTED, "as of"}


def template_text(call: str) -> str:
    """Return the text that replaces a template call {{…}}, which is given without its braces."""
    called, bar, rest = call.partition("|")
    name = called.strip()
    if not bar:
        if _ITSELF.fullmatch(name):
            return name
        return name.partition(":")[2] if name.startswith("formatnum:") else _LITERAL.get(name.lower(), GAP)
    name = name.lower()
    if name not in _KNOWN and not name.startswith("lang-"):  # the arguments of a large table are slow to split
        return GAP
    # Keep the unnamed arguments, and those named with a digit, text or texte.
    parts = (_NUMBERED.sub("", part, count=1) if _NUMBERED.match(part) else part for part in _ARGUMENT.split(rest))
    arguments = [part.strip() for part in parts if not _NAMED.match(part)]
    for names, which in ((_LAST, -1), (_SECOND_OR_FIRST, 1), (_FIRST, 0), (_BLOCK, 0)):
        if name in names or (which == 0 and name.startswith("lang-")):
            chosen = next(filter(None, [*arguments[which:][:1], *arguments[:1]]), GAP)
            return f"\n\n{chosen}\n\n" if names is _BLOCK else chosen
    return _of_several(name, [argument for argument in arguments if argument.strip(GAP)]) or GAP


def _of_several(name: str, words: list[str]) -> str:
    """Return the text of a template that shows several of its arguments, or "" for other templates."""
    if name in _JOINED:
        return " ".join(words)
    if name in _QUANTITY:
        return " ".join(words[: 4 if len(words) > 3 and words[1] in _RANGE else 2])
    if name == "as of":
        return f"As of {' '.join(words)}"
    if name in _QUOTED and words:
        return _QUOTED[name].format(words[0])
    if name in _CENTURY and words:
        return f"{''.join(words[:2]) if len(words) > 1 else words[0] + 'e'} siècle"
    return ""
