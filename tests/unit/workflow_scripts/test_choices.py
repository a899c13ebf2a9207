"""docs/choices.md: every choice has its evidence, and names a key or a file that exists."""

import re

import pytest
from embedded import EMBEDDED, ROOT, leaves

EVIDENCE = ("strong", "medium", "weak", "measured", "ours")
HEAD = ["question", "what we do", "evidence", "switch or place"]
BLOCKS = re.findall(r"(?:^\|.*\n)+", (ROOT / "docs/choices.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
TABLES = [[[cell.strip() for cell in line.strip("|").split(" | ")] for line in b.splitlines()] for b in BLOCKS]
ROWS = [row for table in TABLES for row in table[2:]]
KEYS = [f"{path}." for path, _ in leaves(EMBEDDED)]


def exists(place: str) -> bool:
    """Tell whether a place is a path of the repository, or a key of the config or a section of it."""
    return (ROOT / place).exists() if "/" in place else any(key.startswith(f"{place}.") for key in KEYS)


def test_all_tables_have_the_same_columns() -> None:
    assert [table[0] for table in TABLES] == [HEAD] * 6
    assert len(ROWS) > 60


@pytest.mark.parametrize(("question", "done", "evidence", "where"), ROWS, ids=[row[0] for row in ROWS])
def test_a_choice_says_why_and_where(question: str, done: str, evidence: str, where: str) -> None:
    assert question
    assert done
    assert evidence.split()[0] in EVIDENCE
    places = re.findall("`([^`]+)`", where)
    assert places, "no key and no file"
    assert [place for place in places if not exists(place)] == []


def test_settled_ambiguities_have_their_switch() -> None:
    """What a plausible reading of the paper would do otherwise can be had by a key."""
    switches = {place for row in ROWS for place in re.findall("`([^`/]+)`", row[3])}
    assert switches >= {
        "text.lowercase", "text.strip_accents", "text.han_script", "languages.zh.segmenter", "bpe.train_lines",
        "codeswitch.block_words", "pretrain.random_words", "pretrain.updates", "model.language_embeddings",
        "tasks.xnli.examples_per_epoch", "tasks.parsing.biaffine", "align.word_sentences",
    }  # fmt: skip
