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
from xling.synthetic.types import Meaning, Sentence
from xling.synthetic.world import BY_GLOSS

UPOS = {"ADJ", "ADP", "ADV", "CCONJ", "DET", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "VERB"}
LABELS = {
    "acl:relcl", "advmod", "amod", "case", "cc", "clf", "conj", "det", "flat", "mark", "nsubj", "nummod", "obj", "obl",
    "punct", "root",
}  # fmt: skip


def some_meanings(seed: int, domain: str, count: int = 5) -> list[Meaning]:
    pair = next(nli_pairs(seed))
    return [pair.premise, pair.hypothesis, *islice(draw_meanings((seed,), domain), count)]


def surface(sentence: Sentence) -> list[str]:
    tokens = list(sentence.forms)
    for multiword in reversed(sentence.multiwords):
        tokens[multiword.first : multiword.last + 1] = [multiword.form]
    return tokens


def check_tree(sentence: Sentence) -> None:
    count = len(sentence.forms)
    assert 4 <= count <= 24
    columns = (sentence.lemmas, sentence.upos, sentence.heads, sentence.deprels, sentence.ner)
    assert {len(column) for column in columns} == {count}
    assert sentence.heads.count(0) == sentence.deprels.count("root") == 1
    assert sentence.heads.index(0) == sentence.deprels.index("root")
    arcs = [(head, i + 1) for i, head in enumerate(sentence.heads)]
    tree = networkx.DiGraph(arcs)
    assert networkx.is_arborescence(tree)
    assert tree.number_of_nodes() == count + 1
    for head, child in arcs:
        between = range(min(head, child) + 1, max(head, child))
        assert all(networkx.has_path(tree, head, word) for word in between), "not projective"
    assert set(sentence.upos) <= UPOS
    assert set(sentence.deprels) <= LABELS


def check_entities(sentence: Sentence) -> None:
    previous = "O"
    for tag, upos, label in zip(sentence.ner, sentence.upos, sentence.deprels, strict=True):
        assert (tag == "O") == (upos != "PROPN")
        assert (label == "flat") == tag.startswith("I-")
        assert not tag.startswith("I-") or previous[2:] == tag[2:]
        previous = tag


@given(seed=st.integers(0, 2**32), domain=st.sampled_from(["wiki", "web"]))
@settings(max_examples=50)
def test_every_meaning_is_a_sentence_in_every_language(languages, seed: int, domain: str) -> None:
    for meaning in some_meanings(seed, domain):
        said = [language.realise(meaning) for language in languages.values()]
        for sentence, language in zip(said, languages.values(), strict=True):
            check_tree(sentence)
            check_entities(sentence)
            assert sentence.text == language.text(meaning)
            assert sentence.meaning is meaning
        assert len({tuple(sorted(tag for tag in sentence.ner if tag != "O")) for sentence in said}) == 1


@pytest.mark.parametrize("code", ["en", "fr", "de", "ru"])
def test_moses_gives_back_the_words(languages, code: str) -> None:
    tokenizer = MosesTokenizer(lang=code)
    meanings = (*some_meanings(7, "wiki", 300), *some_meanings(8, "web", 200))
    for one, other in pairwise(map(languages[code].realise, meanings)):
        assert tokenizer.tokenize(one.text, escape=False) == surface(one)
        assert tokenizer.tokenize(f"{one.text} {other.text}", escape=False) == surface(one) + surface(other)
        assert one.text[0].isupper() or one.text[0].isdigit()


def test_jieba_gives_back_the_words_where_there_are_no_spaces(languages, tmp_path) -> None:
    dictionary = tmp_path / "words.txt"
    dictionary.write_text("".join(f"{word} {count}\n" for word, count in languages["zh"].word_list()), "utf-8")
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


@pytest.mark.parametrize(
    ("before", "words"),  # on which sides of their heads the words with a label stand in a language
    [
        ({True}, ["en amod", "zh acl:relcl", "zh obl", "en nsubj"]),
        ({False}, ["fr amod", "en acl:relcl", "en obl", "en obj", "zh clf"]),
        ({True, False}, ["de obl", "de nsubj", "ru obj"]),
    ],
)
def test_each_language_has_its_own_word_order(languages, before: set[bool], words: list[str]) -> None:
    for code, label in map(str.split, words):
        said = map(languages[code].realise, some_meanings(5, "wiki", 1_500))
        assert {i + 1 < head for s in said for i, head in enumerate(s.heads) if s.deprels[i] == label} == before


def test_german_main_verbs_are_second(languages) -> None:
    fronted = 0
    for meaning in some_meanings(5, "wiki", 500):
        sentence = languages["de"].realise(meaning)
        verb = sentence.heads.index(0) + 1
        before = [i for i, head in enumerate(sentence.heads) if head == verb and i + 1 < verb]
        assert len(before) == 1
        fronted += sentence.deprels[before[0]] != "nsubj"
    assert fronted > 50


def test_objects_are_fronted_only_where_nobody_can_mistake_them(languages) -> None:
    fronted = 0
    for meaning in some_meanings(5, "wiki", 2_000):
        sentence = languages["ru"].realise(meaning)
        root = sentence.heads.index(0) + 1
        places = {sentence.deprels[i]: i for i, head in enumerate(sentence.heads) if head == root}
        if places["obj"] < places["nsubj"]:
            fronted += 1
            assert (sentence.upos[places["obj"]], sentence.upos[places["nsubj"]]) == ("NOUN", "PROPN")
    assert fronted > 20


def test_articles_cases_and_stops(languages) -> None:
    suffix = languages["ru"].traits.oblique_suffix
    for meaning in some_meanings(6, "wiki", 300):
        said = {code: language.realise(meaning) for code, language in languages.items()}
        for code in ("ru", "zh"):
            article = languages[code].words[Form.BASE][BY_GLOSS["the"]]
            assert article not in [form.lower() for form in said[code].forms]
        obliques = [i for i, label in enumerate(said["ru"].deprels) if label == "obl"]
        assert all(said["ru"].forms[i].endswith(suffix) or said["ru"].forms[i].isascii() for i in obliques)
        assert (said["zh"].text[-1], said["en"].text[-1]) == ("。", ".")


def test_a_paraphrase_says_the_same_in_other_words(languages) -> None:
    english, rng, differ = languages["en"], python_rng("paraphrase"), 0
    meanings = some_meanings(4, "wiki", 1_000)
    for meaning in meanings:
        sentence, plain = english.paraphrase(meaning, rng), english.realise(meaning)
        check_tree(sentence)
        assert sentence.meaning == meaning
        assert len(sentence.forms) == len(plain.forms)
        differ += sentence.text != plain.text
    assert differ / len(meanings) > 0.75
