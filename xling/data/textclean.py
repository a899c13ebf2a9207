"""What every reader of running text does to a line: no control characters, single spaces, no line break inside."""

import re

# Neither text nor space: C0/C1 controls, soft hyphen, zero-width space, direction marks, word joiner, byte-order mark,
# interlinear marks, surrogates and noncharacters. The joiners U+200C/D stay: some scripts spell with them.
_DROPPED = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    r"\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]+"
)


def clean_line(text: str) -> str:
    """Return the text with control characters dropped, every run of white space one space, and none at its ends."""
    if text.isprintable() and "  " not in text:  # the only printable white space is the blank
        return text.strip()
    return " ".join(_DROPPED.sub("", text).split())
