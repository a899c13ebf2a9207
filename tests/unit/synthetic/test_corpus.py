"""Corpora and dictionaries: independent draws, exact sizes, translations for every word."""

from itertools import combinations, islice

import pytest

from xling.synthetic.corpus import Document, documents, take_sentences, translations
from xling.synthetic.grammar import Form
from xling.synthetic.world import CONCEPTS, CONTENT


def sentences(pages: list[Document]) -> list[str]:
    return [sentence for page in pages for paragraph in page.paragraphs for sentence in paragraph]


def test_corpora_are_not_parallel_and_every_seed_and_domain_is_another_draw(languages) -> None:
    drawn = {code: list(islice(documents(language, "wiki", 1), 100)) for code, language in languages.items()}
    plans = [[tuple(map(len, page.paragraphs)) for page in pages] for pages in drawn.values()]
    for one, other in combinations(plans, 2):
        assert sum(a == b for a, b in zip(one, other, strict=True)) < 0.15 * 100
    more = [islice(documents(languages["en"], domain, seed), 100) for domain, seed in (("wiki", 2), ("web", 1))]
    for one, other in combinations([sentences(pages)[:200] for pages in (drawn["en"], *more)], 2):
        assert sum(a == b for a, b in zip(one, other, strict=True)) < 10


def test_half_the_paragraphs_are_single_sentences_and_titles_are_unique(languages) -> None:
    pages = list(islice(documents(languages["en"], "wiki", 1), 400))
    sizes = [len(paragraph) for page in pages for paragraph in page.paragraphs]
    assert sizes.count(1) / len(sizes) == pytest.approx(0.5, abs=0.03)
    assert set(sizes) == {1, 2, 3}
    assert len({page.title for page in pages}) == len(pages)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 50])
def test_exactly_the_sentences_asked_for(languages, count: int) -> None:
    pages = list(islice(documents(languages["fr"], "web", 1), 50))
    taken = list(take_sentences(pages, count))
    assert sentences(taken) == sentences(pages)[:count]
    assert all(page.paragraphs and all(page.paragraphs) for page in taken)


@pytest.mark.parametrize(("source", "target"), [("en", "fr"), ("en", "zh"), ("ru", "en")])
def test_dictionaries_cover_the_content_words(languages, source: str, target: str) -> None:
    entries = translations(languages[source], languages[target])
    assert len({(entry.source, entry.target) for entry in entries}) == len(entries)
    assert {entry.quality for entry in entries} == set(range(1, 10))
    best = {entry.source: entry.target for entry in sorted(entries, key=lambda entry: (entry.quality, entry.target))}
    left, right = (languages[code].words[Form.BASE] for code in (source, target))
    assert all(best[left[i]] == right[i] for i, concept in enumerate(CONCEPTS) if concept.kind in CONTENT)
    assert len(entries) - len({entry.source for entry in entries}) > 10, "some words have several translations"
    assert any(" " in entry.source for entry in entries)
