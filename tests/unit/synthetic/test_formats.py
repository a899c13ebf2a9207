"""The official formats, read by libraries that know nothing of our code and by the readers of the real data."""

import bz2
import hashlib
import random
import re
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import islice
from pathlib import Path

import conllu
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xling.data.extract_text import read_namespaces, read_pages
from xling.data.panlex import read_panlex
from xling.data.parts import Part
from xling.data.tasks import read_conll2003, read_conllu, read_wikiann
from xling.data.wikitext import hidden_prefixes
from xling.data.wikitext import paragraphs as strip
from xling.synthetic.corpus import Document, Translation, documents, take_sentences, translations
from xling.synthetic.formats import text
from xling.synthetic.formats.dictionaries import TRAINING_SHARE, write_muse, write_panlex
from xling.synthetic.formats.mediawiki import write_dump
from xling.synthetic.formats.wikitext import mark_up
from xling.synthetic.language import Language, Sentence
from xling.synthetic.meaning import Meaning, draw_meanings
from xling.synthetic.nli import NliPair

NS = {"m": "http://www.mediawiki.org/xml/export-0.10/"}


@pytest.fixture(params=["en", "fr", "zh"])
def language(languages: dict[str, Language], request: pytest.FixtureRequest) -> Language:
    return languages[request.param]


# Trees and entities


def test_treebank_reads_back_with_the_conllu_library(spaced: list[Sentence], unspaced: Sentence) -> None:
    """With empty nodes in some trees, right after the root, and enhanced relations in those trees alone."""
    sentences = [*spaced, unspaced] * 200
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


def test_conll2003_has_four_columns_iob1_and_documents(spaced: list[Sentence]) -> None:
    blocks = "\n".join(text.conll2003(spaced * text.CONLL2003_SENTENCES)).rstrip().split("\n\n")
    starts = [place for place, block in enumerate(blocks) if block == "-DOCSTART- -X- O O"]
    assert starts == [0, text.CONLL2003_SENTENCES + 1]
    words, parts, chunks, entities = zip(*(line.split(" ") for line in blocks[2].split("\n")), strict=True)
    assert words[:4] == ("Anna", "Berg", "Otto", "the")
    assert parts[3:9] == ("DT", "NNP", "NNP", "VBZ", "CD", "NN")
    assert chunks[:8] == ("I-NP", "I-NP", "I-NP", "B-NP", "I-NP", "I-NP", "I-VP", "I-NP")
    assert entities[:6] == ("I-PER", "I-PER", "B-PER", "O", "I-LOC", "I-LOC")


def test_the_readers_of_trees_and_entities_find_them(language: Language, tmp_path: Path) -> None:
    sentences = [language.realise(meaning) for meaning in islice(draw_meanings(("read back",), "wiki", "web"), 300)]
    text.write_lines(tmp_path / "x.conllu", text.treebank(sentences, "x", seed=1))
    trees = list(read_conllu(tmp_path / "x.conllu"))
    for tree, sentence in zip(trees, sentences, strict=True):
        assert (tree["words"], tree["heads"]) == (list(sentence.forms), list(sentence.tree.heads))
        assert tree["deprels"] == [deprel.partition(":")[0] for deprel in sentence.tree.deprels]
    text.write_lines(tmp_path / "train", text.wikiann(sentences, language.code, spaces=True))
    text.write_lines(tmp_path / "eng.train", text.conll2003(sentences))
    found = list(read_wikiann(tmp_path / "train", Counter()))
    assert found == list(read_conll2003(tmp_path / "eng.train"))
    plain = [record for record, sentence in zip(found, sentences, strict=True) if not sentence.merged]
    assert plain == [{"words": list(s.forms), "tags": list(s.tree.ner)} for s in sentences if not s.merged]


# Inference, crawled text, jieba


def test_xnli_has_all_languages_in_19_columns_and_its_training_file_says_contradictory(
    spaced: list[Sentence], unspaced: Sentence
) -> None:
    labels = ["entailment", "contradiction", "neutral"]
    lines = list(text.xnli_training(("A cat.", "No cat.", label) for label in labels))
    assert lines[:3] == ["premise\thypo\tlabel", "A cat.\tNo cat.\tentailment", "A cat.\tNo cat.\tcontradictory"]
    pairs = [NliPair(Meaning((), ()), Meaning((), ()), label) for label in labels]
    realised = {"zh": [(unspaced, unspaced)] * 3, "fr": [(spaced[0], spaced[1])] * 3}
    header, *rows = (line.split("\t") for line in text.xnli_evaluation(pairs, realised))
    found = [dict(zip(header, row, strict=True)) for row in rows]
    expected = {"fr": (spaced[0].text, "Le chat voit la maison du roi ."), "zh": (unspaced.text, "王明 爱 北京 。")}
    shown = ("language", "gold_label", "label5", "pairID", "sentence1", "sentence1_tokenized")
    assert [tuple(row[column] for column in shown) for row in found] == [
        (code, label, label, str(i), *texts)
        for code, texts in expected.items()
        for i, label in enumerate(labels, start=1)
    ]
    assert len(header) == 19


@pytest.mark.real_data
def test_columns_are_those_of_the_real_files(real_data: Path) -> None:
    with (real_data / "xnli" / "xnli.dev.tsv").open(encoding="utf-8") as handle:
        assert tuple(handle.readline().rstrip("\n").split("\t")) == text.XNLI_COLUMNS


def test_small_formats_line_by_line(unspaced: Sentence, tmp_path: Path, pages: list[Document]) -> None:
    tagged = ["王 B-PER", "明 I-PER", "爱 O", "北 B-LOC", "京 I-LOC", "。 O"]  # by character, without spaces
    for lines, expected in (
        (text.msra([unspaced]), [*tagged, ""]),
        (text.wikiann([unspaced], "zh", spaces=False), [*("zh:" + line.replace(" ", "\t") for line in tagged), ""]),
        (text.parallel_columns({"fr": ["un"], "en": ["one"]}), ["en\tfr", "one\tun"]),
        (text.crawl(pages[:2], " "), [line for page in pages[:2] for line in (*map(" ".join, page.paragraphs), "")]),
        (text.jieba_dictionary([("北京", 800), ("a b", 3), ("爱", 1)]), ["北京 800", "爱 1"]),
    ):
        assert list(lines) == expected
    with pytest.raises(ValueError, match="shorter"):  # and no file is left
        text.write_lines(tmp_path / "xnli.15way.orig.tsv", text.parallel_columns({"fr": ["un"], "en": ["one", "two"]}))
    assert list(tmp_path.iterdir()) == []


# Dictionaries


def test_muse_splits_by_source_word_frequent_ones_and_better_translations_first(tmp_path: Path) -> None:
    entries = [Translation(f"Word{number}", f"mot{number}", 4 + number % 6) for number in range(40)]
    more = [("two words", "x", 9), ("a", "fair", 5), ("a", "good", 8), ("a", "miss", 2)]
    frequency = {f"Word{number}": 1 / (1 + number) for number in range(40)}
    write_muse(tmp_path, "en", "fr", [*entries, *(Translation(*entry) for entry in more)], frequency)
    full, train, test = (
        [line.split(" ") for line in (tmp_path / f"en-fr{part}.txt").read_text(encoding="utf-8").splitlines()]
        for part in ("", ".0-5000", ".5000-6500")
    )
    assert full == train + test == [*([f"word{n}", f"mot{n}"] for n in range(40)), ["a", "good"], ["a", "fair"]]
    assert not {one for one, _ in train} & {one for one, _ in test}
    assert len({one for one, _ in train}) == round(41 * TRAINING_SHARE)


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


# Wiki dumps


def test_pages_have_what_the_export_format_demands_and_every_kind_of_markup(
    tmp_path: Path, pages: list[Document]
) -> None:
    path = tmp_path / "frwiki-20200101-pages-articles.xml.bz2"
    write_dump(path, pages, "fr", " ", seed=1)
    dump = ET.fromstring(bz2.decompress(path.read_bytes()))  # noqa: S314 we have written it ourselves
    names = {space.get("key"): space.text or "" for space in dump.iterfind("m:siteinfo/m:namespaces/m:namespace", NS)}
    found = dump.findall("m:page", NS)
    titles = [page.findtext("m:title", "", NS) for page in found]
    assert len(set(titles)) == len(found)
    assert {page.findtext("m:ns", "", NS) for page in found} == {"0", "1", "10", "14"}
    everything = ""
    for number, (page, title) in enumerate(zip(found, titles, strict=True), start=1):
        space, revision = page.findtext("m:ns", "", NS), page.find("m:revision", NS)
        assert space == "0" or title.startswith(f"{names[space]}:")
        assert page.findtext("m:id", "", NS) == str(number)
        body = revision.find("m:text", NS)
        everything += body.text
        assert int(body.get("bytes")) == len(body.text.encode())
        sha1 = int(hashlib.sha1(body.text.encode(), usedforsecurity=False).hexdigest(), 16)
        assert int(revision.findtext("m:sha1", "", NS), 36) == sha1
        assert re.fullmatch(r"20[01]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", revision.findtext("m:timestamp", "", NS))
        if (redirect := page.find("m:redirect", NS)) is not None:
            assert redirect.get("title") in titles
            assert f" [[{redirect.get('title')}]]" in body.text
    wanted = ["'''", "{{lc:", "{|", "<ref>", "/>", "<gallery>", "<math>", "<!--", "\n== ", "\n* ", "&nbsp;", "[[Fichier:",
              "[[Catégorie:", "[[Category:", "thumb", "{{Infobox", "<br />"]  # fmt: skip
    assert [mark for mark in wanted if mark not in everything] == []


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
    path, joiner = (
        tmp_path / f"{language.code}wiki-20200101-pages-articles.xml.bz2",
        " " if language.traits.spaces else "",
    )
    pages = list(take_sentences(documents(language, "wiki", 5), 500))
    write_dump(path, pages, language.code, joiner, seed=5)
    counts, hidden = Counter[str](), hidden_prefixes(read_namespaces(path))
    articles = read_pages(*Part().spans([path]), counts)
    found = [line for _, wikitext in articles for line in strip(wikitext, hidden)]
    assert found == [joiner.join(paragraph) for page in pages for paragraph in page.paragraphs]
    assert min(counts["redirects"], counts["other_namespaces"]) > 3
