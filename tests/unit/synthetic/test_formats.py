"""The official formats, read by libraries that know nothing of our code and by the readers of the real data."""

import random
from collections import Counter
from itertools import islice
from pathlib import Path

import conllu
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xling.data.conllu import read_conllu
from xling.data.ner import read_conll2003, read_wikiann
from xling.data.panlex import read_panlex
from xling.data.wikidump import Dump
from xling.data.wikitext import hidden_prefixes
from xling.data.wikitext import paragraphs as strip
from xling.synthetic.corpus import documents, take_sentences, translations
from xling.synthetic.formats import text
from xling.synthetic.formats.dictionaries import write_panlex
from xling.synthetic.formats.mediawiki import write_dump
from xling.synthetic.formats.wikitext import mark_up
from xling.synthetic.language import Language
from xling.synthetic.meaning import draw_meanings


@pytest.fixture(params=["en", "fr", "zh"])
def language(languages: dict[str, Language], request: pytest.FixtureRequest) -> Language:
    return languages[request.param]


def test_treebank_reads_back_with_the_conllu_library(language: Language) -> None:
    """With empty nodes in some trees, right after the root, and enhanced relations in those trees alone."""
    sentences = [language.realise(meaning) for meaning in islice(draw_meanings(("trees",), "wiki"), 600)]
    trees = conllu.parse("\n".join(text.treebank(sentences, "fr-ud-train", seed=1)) + "\n")
    assert len({tree.metadata["sent_id"] for tree in trees}) == 600
    with_empty = 0
    for tree, sentence in zip(trees, sentences, strict=True):
        special = [token["id"] for token in tree if isinstance(token["id"], tuple)]
        inside = {number for first, mark, last in special if mark == "-" for number in range(first, last + 1)}
        empty = [number for number in special if number[1] == "."]
        printed = [token for token in tree if token["id"] not in empty and token["id"] not in inside]
        spaces = ["" if (token["misc"] or {}).get("SpaceAfter") == "No" else " " for token in printed]
        shown = "".join(token["form"] + space for token, space in zip(printed, spaces, strict=True))
        assert shown.rstrip() == tree.metadata["text"] == sentence.text
        assert empty in ([], [(sentence.tree.heads.index(0) + 1, ".", 1)])
        assert {token["deps"] is not None for token in tree if isinstance(token["id"], int)} == {bool(empty)}
        with_empty += bool(empty)
    assert 0.5 * text.EMPTY_NODE_SHARE < with_empty / 600 < 2 * text.EMPTY_NODE_SHARE


def test_the_readers_of_trees_and_entities_find_them(language: Language, tmp_path: Path) -> None:
    sentences = [language.realise(meaning) for meaning in islice(draw_meanings(("read back",), "wiki", "web"), 300)]
    text.write_lines(tmp_path / "x.conllu", text.treebank(sentences, "x", seed=1))
    trees = list(read_conllu(tmp_path / "x.conllu"))
    expected = [(sentence.forms, sentence.tree.heads, sentence.tree.deprels) for sentence in sentences]
    assert [(tree.words, tree.heads, tree.deprels) for tree in trees] == expected
    text.write_lines(tmp_path / "train", text.wikiann(sentences, language.code, spaces=True))
    text.write_lines(tmp_path / "eng.train", text.conll2003(sentences))
    one, two = list(read_wikiann(tmp_path / "train", Counter())), read_conll2003(tmp_path / "eng.train")
    assert [(x.words, x.tags) for x in one] == [(y.words, y.tags) for y in two]
    plain = [(x.words, x.tags) for x, s in zip(one, sentences, strict=True) if not s.merged]
    assert plain == [(s.forms, s.tree.ner) for s in sentences if not s.merged]


@pytest.mark.real_data
def test_columns_are_those_of_the_real_files(real_data: Path) -> None:
    with (real_data / "xnli" / "xnli.dev.tsv").open(encoding="utf-8") as handle:
        assert tuple(handle.readline().rstrip("\n").split("\t")) == text.XNLI_COLUMNS


@pytest.mark.parametrize("code", ["fr", "zh"])
def test_the_reader_of_panlex_finds_the_qualities(languages: dict[str, Language], code: str, tmp_path: Path) -> None:
    entries = translations(languages["en"], languages[code])
    assert {entry.quality for entry in entries} == set(range(1, 10))
    write_panlex(tmp_path, "eng", {"xxx": entries, "yyy": entries[:5]})
    found = {(entry.source, entry.target): entry.quality for entry in read_panlex(tmp_path, "eng-000", "xxx-000")}
    assert found == {(entry.source, entry.target): entry.quality for entry in entries}
    lines = (tmp_path / "expr.csv").read_text(encoding="utf-8").splitlines()
    assert len({line.split(",")[0] for line in lines}) == len(lines)
    assert lines[0] == "id,langvar,txt,txt_degr"


LETTERS = st.text("abkzаяé王明北", min_size=1, max_size=6)
ENDINGS = st.sampled_from(["", "", "'", "'s", "ab"])
WORDS = st.lists(
    st.builds("{}{}".format, LETTERS, ENDINGS) | st.integers(0, 999).map(str) | st.sampled_from(["Anna,", "Berg,"]),
    min_size=1,
    max_size=12,
)


@given(WORDS, st.sampled_from([" ", ""]), st.integers(0, 10**6))
def test_inline_markup_only_adds(words: list[str], joiner: str, seed: int) -> None:
    paragraph = joiner.join(words) + "."
    marked = mark_up(paragraph, words[0], ["Berg", "Old Town"], random.Random(seed))
    assert strip("x" + marked, frozenset()) == ["x" + paragraph]


def test_the_reader_of_dumps_finds_exactly_the_paragraphs(language: Language, tmp_path: Path) -> None:
    path, joiner = tmp_path / "wiki-pages-articles.xml.bz2", " " if language.traits.spaces else ""
    pages = list(take_sentences(documents(language, "wiki", 5), 500))
    write_dump(path, pages, language.code, joiner, seed=5)
    dump = Dump(path)
    found = [line for page in dump.pages() for line in strip(page.wikitext, hidden_prefixes(dump.namespaces))]
    assert found == [joiner.join(paragraph) for page in pages for paragraph in page.paragraphs]
    assert min(dump.counts["redirects"], dump.counts["other_namespaces"]) > 3
