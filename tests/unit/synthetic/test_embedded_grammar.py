"""Sentences: trees, entities, word order of each language, and text that tokenisers give back."""

from itertools import islice, pairwise

import jieba
import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from xling.core.seeds import python_rng
from xling.synthetic.draw import draw_meanings
from xling.synthetic.grammar import Form
from xling.synthetic.nli import nli_pairs
from xling.synthetic.realise import Language, word_list
from xling.synthetic.types import Meaning, Sentence
from xling.synthetic.world import BY_GLOSS

CODES = ["en", "fr", "de", "ru", "zh"]
UPOS = {"ADJ", "ADP", "ADV", "CCONJ", "DET", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "VERB"}
LABELS = {
    "acl:relcl",
    "advmod",
    "amod",
    "case",
    "cc",
    "clf",
    "conj",
    "det",
    "flat",
    "mark",
    "nsubj",
    "nummod",
    "obj",
    "obl",
    "punct",
    "root",
}
seeds = st.integers(0, 2**32)
domains = st.sampled_from(["wiki", "web"])


def some_meanings(seed: int, domain: str, count: int = 5) -> list[Meaning]:
    pair = next(nli_pairs(seed))
    return [pair.premise, pair.hypothesis, *islice(draw_meanings((seed,), domain), count)]


def surface(sentence: Sentence) -> list[str]:
    tokens = list(sentence.forms)
    for multiword in reversed(sentence.multiwords):
        tokens[multiword.first : multiword.last + 1] = [multiword.form]
    return tokens


def arcs(sentence: Sentence) -> list[tuple[int, int]]:
    return [(head, i + 1) for i, head in enumerate(sentence.heads)]


def check_tree(sentence: Sentence) -> None:
    count = len(sentence.forms)
    assert {
        len(column) for column in (sentence.lemmas, sentence.upos, sentence.heads, sentence.deprels, sentence.ner)
    } == {count}
    assert 4 <= count <= 24
    assert sentence.heads.count(0) == sentence.deprels.count("root") == 1
    assert sentence.heads.index(0) == sentence.deprels.index("root")
    tree = networkx.DiGraph(arcs(sentence))
    assert networkx.is_arborescence(tree)
    assert tree.number_of_nodes() == count + 1
    for head, child in arcs(sentence):
        between = range(min(head, child) + 1, max(head, child))
        assert all(networkx.has_path(tree, head, word) for word in between), "not projective"
    assert set(sentence.upos) <= UPOS
    assert set(sentence.deprels) <= LABELS


def check_entities(sentence: Sentence) -> None:
    previous = "O"
    for tag, upos, label in zip(sentence.ner, sentence.upos, sentence.deprels, strict=True):
        assert (tag == "O") == (upos != "PROPN")
        if tag.startswith("I-"):
            assert previous[2:] == tag[2:]
            assert label == "flat"
        else:
            assert label != "flat"
        previous = tag


@given(seed=seeds, domain=domains)
@settings(max_examples=60)
def test_every_meaning_is_a_sentence_in_every_language(languages, seed: int, domain: str) -> None:
    for meaning in some_meanings(seed, domain):
        for language in languages.values():
            sentence = language.realise(meaning)
            check_tree(sentence)
            check_entities(sentence)
            assert sentence.text == language.text(meaning)
            assert sentence.meaning is meaning


@given(seed=seeds, domain=domains)
@settings(max_examples=30)
def test_entities_are_the_names_of_the_meaning(languages, seed: int, domain: str) -> None:
    for meaning in some_meanings(seed, domain):
        tags = [sorted(tag for tag in language.realise(meaning).ner if tag != "O") for language in languages.values()]
        assert all(other == tags[0] for other in tags)


@pytest.mark.parametrize("code", ["en", "fr", "de", "ru"])
def test_moses_gives_back_the_words(languages, code: str) -> None:
    tokenizer = MosesTokenizer(lang=code)
    for meaning in (*some_meanings(7, "wiki", 400), *some_meanings(8, "web", 200)):
        sentence = languages[code].realise(meaning)
        assert tokenizer.tokenize(sentence.text, escape=False) == surface(sentence)
        assert sentence.text[0].isupper() or sentence.text[0].isdigit()


@pytest.mark.parametrize("code", ["en", "fr", "de", "ru"])
def test_moses_cuts_paragraphs_at_the_same_places(languages, code: str) -> None:
    tokenizer = MosesTokenizer(lang=code)
    sentences = [languages[code].realise(meaning) for meaning in some_meanings(9, "web", 200)]
    for one, other in pairwise(sentences):
        tokens = tokenizer.tokenize(f"{one.text} {other.text}", escape=False)
        assert tokens == surface(one) + surface(other)


def test_jieba_gives_back_the_words_where_there_are_no_spaces(languages, tmp_path) -> None:
    dictionary = tmp_path / "words.txt"
    dictionary.write_text("".join(f"{word} {count}\n" for word, count in word_list(languages["zh"])), "utf-8")
    segmenter = jieba.Tokenizer(str(dictionary))
    segmenter.cache_file = str(tmp_path / "jieba.cache")
    latin = 0
    for meaning in (*some_meanings(7, "wiki", 600), *some_meanings(8, "web", 300)):
        sentence = languages["zh"].realise(meaning)
        words = [word for word in segmenter.cut(sentence.text, HMM=False) if not word.isspace()]
        assert words == list(sentence.forms)
        latin += " " in sentence.text
    assert latin > 0, "the sample has no Latin name, so it tests too little"


def test_contractions_are_one_token_for_two_words(languages) -> None:
    found = 0
    for meaning in some_meanings(3, "wiki", 1_000):
        sentence = languages["fr"].realise(meaning)
        for multiword in sentence.multiwords:
            found += 1
            assert sentence.upos[multiword.first : multiword.last + 1] == ("ADP", "DET")
            assert multiword.form in sentence.text.split()
        assert not languages["en"].realise(meaning).multiwords
    assert found > 20


def order_of(languages, code: str, label: str, count: int = 1_500) -> set[bool]:
    """Say on which sides of their heads the words with a label stand: True is before."""
    sides = set()
    for meaning in some_meanings(5, "wiki", count):
        sentence = languages[code].realise(meaning)
        sides |= {i + 1 < head for i, head in enumerate(sentence.heads) if sentence.deprels[i] == label}
    return sides


@pytest.mark.parametrize(
    ("code", "label", "before"),
    [
        ("en", "amod", {True}),
        ("fr", "amod", {False}),
        ("en", "acl:relcl", {False}),
        ("zh", "acl:relcl", {True}),
        ("en", "obl", {False}),
        ("zh", "obl", {True}),
        ("de", "obl", {True, False}),
        ("de", "nsubj", {True, False}),
        ("en", "nsubj", {True}),
        ("en", "obj", {False}),
        ("ru", "obj", {True, False}),
        ("zh", "clf", {False}),
    ],
)
def test_word_order_is_the_language_s_own(languages, code: str, label: str, before: set[bool]) -> None:
    assert order_of(languages, code, label) == before


def test_german_main_verbs_are_second(languages) -> None:
    fronted = 0
    for meaning in some_meanings(5, "wiki", 500):
        sentence = languages["de"].realise(meaning)
        verb = sentence.heads.index(0) + 1
        before = [i for i, head in enumerate(sentence.heads) if head == verb and i + 1 < verb]
        assert len(before) == 1
        fronted += sentence.deprels[before[0]] != "nsubj"
    assert fronted > 50


def test_articles_cases_and_stops(languages) -> None:
    the = BY_GLOSS["the"]
    articles = {code: languages[code].lexicon.first[Form.BASE][the] for code in CODES}
    suffix = languages["ru"].traits.oblique_suffix
    for meaning in some_meanings(6, "wiki", 300):
        said = {code: language.realise(meaning) for code, language in languages.items()}
        for code in ("ru", "zh"):
            assert articles[code] not in [form.lower() for form in said[code].forms]
        obliques = [i for i, label in enumerate(said["ru"].deprels) if label == "obl"]
        assert all(said["ru"].forms[i].endswith(suffix) or said["ru"].forms[i].isascii() for i in obliques)
        assert said["zh"].text.endswith("。")
        assert said["en"].text.endswith(".")


def test_a_paraphrase_says_the_same_in_other_words(languages) -> None:
    english: Language = languages["en"]
    meanings = some_meanings(4, "wiki", 1_000)
    rng = python_rng("paraphrase")
    said = [english.paraphrase(meaning, rng) for meaning in meanings]
    for sentence in said:
        check_tree(sentence)
    assert [sentence.meaning for sentence in said] == meanings
    differ = sum(sentence.text != english.text(meaning) for sentence, meaning in zip(said, meanings, strict=True))
    assert differ / len(meanings) > 0.75
    lengths = [len(sentence.forms) - len(english.realise(sentence.meaning).forms) for sentence in said]
    assert set(lengths) == {0}


def test_objects_are_fronted_only_where_nobody_can_mistake_them(languages) -> None:
    fronted = 0
    for meaning in some_meanings(5, "wiki", 2_000):
        sentence = languages["ru"].realise(meaning)
        verb = sentence.heads.index(0) + 1
        subject, target = (
            next(i for i, head in enumerate(sentence.heads) if head == verb and sentence.deprels[i] == label)
            for label in ("nsubj", "obj")
        )
        if target < subject:
            fronted += 1
            assert sentence.upos[target] == "NOUN"
            assert sentence.upos[subject] == "PROPN"
    assert fronted > 20
