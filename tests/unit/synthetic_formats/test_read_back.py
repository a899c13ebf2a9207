"""What the writers write, read by the readers of the real data: nothing is lost and nothing is added."""

from pathlib import Path

import pytest

from xling.data.conllu import read_conllu
from xling.data.fasttext import read_vectors
from xling.data.ner import read_conll2003, read_wikiann
from xling.data.panlex import read_panlex
from xling.data.wikidump import Counts, read_dump
from xling.data.wikinames import hidden_prefixes
from xling.data.wikitext import paragraphs
from xling.synthetic.corpus import documents
from xling.synthetic.dictionary import translations
from xling.synthetic.draw import draw_meanings
from xling.synthetic.formats.conll2003 import write_conll2003
from xling.synthetic.formats.draws import take_sentences, take_turns
from xling.synthetic.formats.panlex import write_panlex
from xling.synthetic.formats.treebank import write_treebank
from xling.synthetic.formats.wikiann import write_wikiann
from xling.synthetic.realise import Language, build_language
from xling.synthetic.traits import Traits
from xling.synthetic.types import Sentence
from xling.synthetic.world import build_world
from xling.synthetic.write_language import DUMP_DATE, write_wikipedia

TRAITS = {
    "en": Traits("en", "latin", cognates=1.0, names=1.0, function_words=1.0),
    "fr": Traits("fr", "latin", accents="éè", cognates=0.4, names=0.7, adjective="after", contractions=True),
    "zh": Traits("zh", "han", spaces=False, full_stop="。", comma="，", names=0.1, classifier=True),
}
SENTENCES = 2000


@pytest.fixture(scope="module", params=list(TRAITS))
def language(request: pytest.FixtureRequest) -> Language:
    return build_language(TRAITS[request.param], build_world(1))


@pytest.fixture(scope="module")
def sentences(language: Language) -> list[Sentence]:
    meanings = take_turns([draw_meanings(("read back",), domain) for domain in ("wiki", "web")], 500)
    return [language.realise(meaning) for meaning in meanings]


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
    assert min(counts.redirects, counts.other_namespaces) > 10
    assert read_vectors(tmp_path / "fasttext" / f"wiki.{language.code}.vec", 10**6).vectors.shape[1] == 16


def test_the_reader_of_treebanks_finds_the_trees(sentences: list[Sentence], tmp_path: Path) -> None:
    write_treebank(tmp_path / "x.conllu", sentences, "x", seed=1)
    trees = list(read_conllu(tmp_path / "x.conllu"))
    assert [(tree.words, tree.heads, tree.deprels) for tree in trees] == [
        (sentence.forms, sentence.heads, sentence.deprels) for sentence in sentences
    ]


def test_the_readers_of_entities_agree(language: Language, sentences: list[Sentence], tmp_path: Path) -> None:
    write_wikiann(tmp_path / "train", sentences, language.code, spaces=True)
    write_conll2003(tmp_path / "eng.train", sentences)
    one, two = read_wikiann(tmp_path / "train"), read_conll2003(tmp_path / "eng.train")
    assert [(x.words, x.tags) for x in one] == [(y.words, y.tags) for y in two]


@pytest.mark.parametrize("code", ["fr", "zh"])
def test_the_reader_of_panlex_finds_the_qualities(code: str, tmp_path: Path) -> None:
    source, target = (build_language(TRAITS[name], build_world(1)) for name in ("en", code))
    entries = translations(source, target)
    write_panlex(tmp_path, "eng", {"xxx": entries})
    found = {(entry.source, entry.target): entry.quality for entry in read_panlex(tmp_path, "eng-000", "xxx-000")}
    assert found == {(entry.source, entry.target): entry.quality for entry in entries}
