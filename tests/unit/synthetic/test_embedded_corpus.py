"""Corpora and dictionaries: independent draws, the same bytes everywhere."""

import hashlib
import os
import subprocess
import sys
from itertools import combinations, islice
from pathlib import Path

import pytest

from xling.core.seeds import python_rng
from xling.synthetic.corpus import documents
from xling.synthetic.dictionary import translations
from xling.synthetic.draw import draw_meanings
from xling.synthetic.grammar import Form
from xling.synthetic.nli import nli_pairs
from xling.synthetic.realise import word_list
from xling.synthetic.world import CONCEPTS, CONTENT

CODES = ["en", "fr", "de", "ru", "zh"]
GOLDEN = "f25b6892f1ee546aadddae6dfb04c5fe52d1a49efdfc4f54d0cc9e1a1f9181b6"


def sample(languages) -> str:
    """Return the hash of some of everything that is generated."""
    lines = []
    for language in languages.values():
        for domain in ("wiki", "web"):
            lines += [repr(document) for document in islice(documents(language, domain, 3), 20)]
        lines += [repr(language.realise(meaning)) for meaning in islice(draw_meanings((3,), "wiki"), 50)]
        rng = python_rng("golden", language.code)
        lines += [repr(language.paraphrase(meaning, rng)) for meaning in islice(draw_meanings((4,), "web"), 50)]
        lines += [repr(entry) for entry in translations(languages["en"], language)]
        lines += [repr(word_list(language))]
    lines += [repr(pair) for pair in islice(nli_pairs(3), 100)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def test_the_same_seed_gives_the_same_bytes(languages) -> None:
    assert sample(languages) == GOLDEN


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_another_process_gives_the_same_bytes(hash_seed: str) -> None:
    script = (
        "import conftest, test_embedded_corpus as t\n"
        "from xling.synthetic.realise import build_language\n"
        "from xling.synthetic.traits import Traits\n"
        "from xling.synthetic.world import build_world\n"
        "world = build_world(1)\n"
        "print(t.sample({c: build_language(Traits.from_dict(v), world) for c, v in conftest.TRAITS.items()}))\n"
    )
    folder, tests = Path(__file__).parent, Path(__file__).parents[2]
    path = os.pathsep.join([str(tests), str(tests.parent)])
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=folder, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == GOLDEN


def sentences(language, domain: str, seed: int, count: int = 300) -> list[str]:
    return [
        sentence
        for document in islice(documents(language, domain, seed), count)
        for paragraph in document.paragraphs
        for sentence in paragraph.sentences
    ]


def test_corpora_are_not_parallel(languages) -> None:
    plans = {
        code: [(document.topic, len(document.paragraphs)) for document in islice(documents(language, "wiki", 1), 200)]
        for code, language in languages.items()
    }
    for one, other in combinations(CODES, 2):
        assert sum(a == b for a, b in zip(plans[one], plans[other], strict=True)) < 0.2 * 200


def test_other_seeds_and_domains_are_other_draws(languages) -> None:
    english = languages["en"]
    draws = [
        sentences(english, "wiki", 1)[:200],
        sentences(english, "wiki", 2)[:200],
        sentences(english, "web", 1)[:200],
    ]
    for i, one in enumerate(draws):
        for other in draws[:i]:
            assert sum(a == b for a, b in zip(one, other, strict=True)) < 10


def test_paragraphs_are_single_sentences_or_variations(languages) -> None:
    paragraphs = [p for document in islice(documents(languages["en"], "wiki", 1), 800) for p in document.paragraphs]
    sizes = [len(paragraph.sentences) for paragraph in paragraphs]
    assert sizes.count(1) / len(sizes) == pytest.approx(0.5, abs=0.03)
    assert set(sizes) == {1, 2, 3}
    kept = [
        len(set(p.sentences[0].lower().split()) & set(p.sentences[1].lower().split()))
        for p in paragraphs
        if len(p.sentences) > 1
    ]
    assert min(kept) >= 1
    assert sum(kept) / len(kept) > 3


def test_titles_are_unique(languages) -> None:
    titles = [document.title for document in islice(documents(languages["fr"], "web", 1), 2_000)]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(("source", "target"), [("en", "fr"), ("en", "zh"), ("ru", "en")])
def test_dictionaries_cover_the_content_words(languages, source: str, target: str) -> None:
    entries = translations(languages[source], languages[target])
    assert len({(entry.source, entry.target) for entry in entries}) == len(entries)
    assert {entry.quality for entry in entries} == set(range(1, 10))
    best: dict[str, tuple[int, str]] = {}
    for entry in entries:
        best[entry.source] = max(best.get(entry.source, (0, "")), (entry.quality, entry.target))
    left, right = (languages[code].lexicon.first[Form.BASE] for code in (source, target))
    content = [i for i, concept in enumerate(CONCEPTS) if concept.kind in CONTENT]
    assert all(best[left[i]][1] == right[i] for i in content)
    several = len(entries) - len({entry.source for entry in entries})
    assert several > 10
    assert any(" " in entry.source for entry in entries)
