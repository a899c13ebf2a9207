"""Real pages against what a reader of their source sees, and the extracted text of every real dump as it was."""

import hashlib
import re
from functools import cache
from pathlib import Path

import pytest

from xling.data.wikidump import Counts, read_dump
from xling.data.wikitext import hidden_prefixes, paragraphs

MARKUP = re.compile(
    r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|\|-|</?ref|<!--|</?(?:br|sub|sup|span|div|small|math)\b|''|&nbsp;|thumb\|"
)
# Counted by hand: prose paragraphs of the page, and the list items that end like a sentence and have five words.
COUNTED = {"An American in Paris": 20, "Antoine Meillet": 26, "Красная книга": 25}
# The text extracted from each dump; a change that is wanted changes these, and REV["data"] with them.
GOLDEN = {
    "dewiki-minidump": "0aed74005b2a79b6",
    "enwiki-latest": "55a5764a2781eaf1",
    "enwiki-minidump": "869068f40c744e04",
    "frwiki-minidump": "0716fd28fb351e38",
    "ruwiki-latest": "afd9043d41aa3ff7",
    "ruwiki-minidump": "098424155e5a2740",
    "ruwiki-sample-big.xml.bz2": "3623430059dc955f",
    "zhwiki-minidump": "8cda2bbb4a1ae1ff",
}


@cache
def extracted(path: Path) -> dict[str, tuple[str, list[str]]]:
    """Return wikitext and paragraphs of each page."""
    counts = Counts()
    return {
        page.title: (page.wikitext, paragraphs(page.wikitext, hidden_prefixes(counts.namespaces)))
        for page in read_dump(path, counts)
    }


@pytest.mark.real_data
def test_the_text_of_real_dumps_is_unchanged_and_without_markup(real_data: Path) -> None:
    found = {}
    for path in sorted(real_data.glob("wikidump/*.bz2")):
        lines = [line for _, plain in extracted(path).values() for line in plain]
        assert [line for line in lines if MARKUP.search(line)] == []
        found[path.name.split("-pages")[0]] = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    assert found == GOLDEN


@pytest.mark.real_data
def test_hand_counted_pages(real_data: Path) -> None:
    pages = {title: found for path in real_data.glob("wikidump/*") for title, (_, found) in extracted(path).items()}
    assert {title: len(pages[title]) for title in COUNTED} == COUNTED
    last = "Marc Décimo, Sciences et pataphysique"
    assert pages["Antoine Meillet"][-1].startswith(last)  # an item of a list that reads as a sentence
    assert pages["Antoine Meillet"][0] == (
        "Paul Jules Antoine Meillet, né le 11 novembre 1866 à Moulins (Allier) et mort le 21 septembre 1936 à "
        "Châteaumeillant (Cher), est le principal linguiste français des premières décennies du XXe siècle. "
        "Il est aussi philologue."
    )


@pytest.mark.real_data
def test_sentences_of_unmarked_source_lines_all_survive(real_data: Path) -> None:
    """Lines of the source without any markup are prose as they stand: each must be found in the text."""
    ordinary = re.compile(r"[^\W\d_«„“][^\[\]{}<>|='&*#_]{60,}[.!?。]")
    checked, lost = 0, []
    for path in sorted(real_data.glob("wikidump/*.bz2")):
        for wikitext, found in extracted(path).values():
            shown = re.sub("<!--.*?-->", "", wikitext, flags=re.DOTALL)
            lines = [" ".join(line.split()) for line in shown.split("\n") if ordinary.fullmatch(line)]
            lost += [line for line in lines if line not in "\n".join(found)]
            checked += len(lines)
    assert checked > 500
    assert [line[:30] for line in lost] == ["тресты — государственные промы"]  # stands inside a reference
