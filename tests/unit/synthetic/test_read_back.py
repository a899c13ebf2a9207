"""What the writers write, read by the readers of the real data: nothing is lost and nothing is added."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from xling.data.conllu import read_conllu
from xling.data.fasttext import read_vectors
from xling.data.ner import read_conll2003, read_wikiann
from xling.data.panlex import read_panlex
from xling.data.wikidump import Counts, read_dump
from xling.data.wikinames import hidden_prefixes
from xling.data.wikitext import paragraphs
from xling.synthetic.corpus import documents, take_sentences
from xling.synthetic.dictionary import translations
from xling.synthetic.draw import draw_meanings
from xling.synthetic.formats.dictionaries import write_panlex
from xling.synthetic.formats.tagged import conll2003, treebank, wikiann
from xling.synthetic.formats.text import write_lines
from xling.synthetic.generate_language import DUMP_DATE, write_wikipedia
from xling.synthetic.language import Language

SENTENCES = 1000


@pytest.fixture(params=["en", "fr", "zh"])
def language(languages: dict[str, Language], request: pytest.FixtureRequest) -> Language:
    return languages[request.param]


def test_the_reader_of_dumps_finds_exactly_the_paragraphs(language: Language, tmp_path: Path) -> None:
    write_wikipedia(language, SENTENCES, 16, seed=5, root=tmp_path)
    joiner = " " if language.traits.spaces else ""
    drawn = take_sentences(documents(language, "wiki", 5), SENTENCES)
    expected = [joiner.join(paragraph.sentences) for document in drawn for paragraph in document.paragraphs]
    counts = Counts()
    found: list[str] = []
    for page in read_dump(tmp_path / "wikidump" / f"{language.code}wiki-{DUMP_DATE}-pages-articles.xml.bz2", counts):
        found += paragraphs(page.wikitext, hidden_prefixes(counts.namespaces))
    assert found == expected
    assert min(counts.redirects, counts.other_namespaces) > 5
    vectors = read_vectors(tmp_path / "fasttext" / f"wiki.{language.code}.vec", 10**6)
    assert np.linalg.matrix_rank(vectors.vectors) == vectors.vectors.shape[1] == 16
    prose = "".join(expected).lower()
    assert all(word in prose for word in vectors.words)


def test_the_readers_of_trees_and_entities_find_them(language: Language, tmp_path: Path) -> None:
    sentences = [language.realise(meaning) for meaning in islice(draw_meanings(("read back",), "wiki", "web"), 500)]
    write_lines(tmp_path / "x.conllu", treebank(sentences, "x", seed=1))
    trees = list(read_conllu(tmp_path / "x.conllu"))
    expected = [(sentence.forms, sentence.heads, sentence.deprels) for sentence in sentences]
    assert [(tree.words, tree.heads, tree.deprels) for tree in trees] == expected
    write_lines(tmp_path / "train", wikiann(sentences, language.code, spaces=True))
    write_lines(tmp_path / "eng.train", conll2003(sentences))
    one, two = list(read_wikiann(tmp_path / "train")), read_conll2003(tmp_path / "eng.train")
    assert [(x.words, x.tags) for x in one] == [(y.words, y.tags) for y in two]
    plain = [(x.words, x.tags) for x, s in zip(one, sentences, strict=True) if not s.multiwords]
    assert plain == [(s.forms, s.ner) for s in sentences if not s.multiwords]


@pytest.mark.parametrize("code", ["fr", "zh"])
def test_the_reader_of_panlex_finds_the_qualities(languages: dict[str, Language], code: str, tmp_path: Path) -> None:
    entries = translations(languages["en"], languages[code])
    write_panlex(tmp_path, "eng", {"xxx": entries})
    found = {(entry.source, entry.target): entry.quality for entry in read_panlex(tmp_path, "eng-000", "xxx-000")}
    assert found == {(entry.source, entry.target): entry.quality for entry in entries}
