"""docs/choices.md: every choice has its evidence, and names a key or a file that exists."""

import re

from embedded import EMBEDDED, ROOT, leaves

EVIDENCE = ("strong", "medium", "weak", "measured", "ours")
HEAD = ["question", "what we do", "evidence", "switch or place"]


def tables():
    """Return the cells of every table, row by row."""
    text = (ROOT / "docs" / "choices.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    return [[[cell.strip() for cell in line.strip("|").split(" | ")] for line in b.splitlines()] for b in blocks]


KEYS = dict(leaves(EMBEDDED))
ROWS = [row for table in tables() for row in table[2:]]


def exists(place):
    """Tell whether a place is a key of the config or a path of the repository."""
    return (ROOT / place).exists() if "/" in place else any(f"{key}.".startswith(f"{place}.") for key in KEYS)


def test_a_choice_says_why_and_where():
    assert [table[0] for table in tables()] == [HEAD] * 6
    assert len(ROWS) > 60
    for question, done, evidence, where in ROWS:
        assert question
        assert done
        assert evidence.split()[0] in EVIDENCE, question
        places = re.findall("`([^`]+)`", where)
        assert places, f"no key and no file: {question}"
        assert [place for place in places if not exists(place)] == [], question
