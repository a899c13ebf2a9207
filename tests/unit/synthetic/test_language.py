"""Languages and their corpora: words as near to English as asked, sentences with trees and order, independent draws."""

from collections import Counter
from itertools import combinations, islice, pairwise

import jieba
import networkx
import opencc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from xling.core.errors import XlingError
from xling.core.seeds import python_rng
from xling.synthetic.corpus import documents, take_sentences, translations
from xling.synthetic.formats.text import jieba_dictionary, tokens, write_lines
from xling.synthetic.grammar import Form
from xling.synthetic.language import Language, used_forms
from xling.synthetic.meaning import LINK, SHARPNESS, WIKI, draw_meanings, sampler
from xling.synthetic.nli import nli_pairs
from xling.synthetic.traits import Differences
from xling.synthetic.world import ALONE, CONCEPTS, CONTENT, FIRST, NAMES, SECOND, Kind, WordMaker

CODES = ["en", "fr", "de", "ru", "zh"]
LABELS = {
    "acl:relcl", "advmod", "amod", "case", "cc", "clf", "conj", "det", "flat", "mark", "nsubj", "nummod", "obj", "obl",
    "punct", "root",
}  # fmt: skip


def test_a_sixth_language_is_data_alone(world):
    greek = Language("el", Differences(script="greek", verb="final", adjective="after", names=0.2, synonyms=0.0), world)
    for meaning in islice(draw_meanings((1,), "wiki"), 200):
        sentence = greek.realise(meaning)
        assert any("α" <= letter <= "ω" for letter in sentence.text.lower())
        assert LINK in meaning.skeleton or sentence.deprels[-2:] == ("root", "punct")


def test_characters_are_enough_and_the_same_in_both_chinese_scripts():
    everything = ALONE + FIRST + SECOND
    assert len(set(everything)) == len(everything)
    assert [opencc.OpenCC(scheme).convert(everything) for scheme in ("t2s", "s2t")] == [everything] * 2
    with pytest.raises(XlingError, match="the script 'han' has no words left"):
        WordMaker("han", python_rng(1), taken=set(ALONE)).make(short=True)


def test_choices_follow_the_topic_and_zipf_and_domains_differ():
    source, rng = sampler(WIKI), python_rng(1)
    drawn = [CONCEPTS[concept] for _ in range(10_000) for concept in source.meaning(rng, 1).concepts]
    people = [concept for concept in drawn if concept.kind == Kind.PERSON]
    own = Counter(person.rank for person in people if person.topic == 1)
    assert own.total() / len(people) == pytest.approx(SHARPNESS, abs=0.03)
    assert own[0] / own[1] == pytest.approx(2, rel=0.15)
    assert own[0] / own[2] == pytest.approx(3, rel=0.2)
    wiki, web = (list(islice(draw_meanings((1,), domain), 2_000)) for domain in ("wiki", "web"))
    names = [Counter(c for m in drawn for c in m.concepts if CONCEPTS[c].kind == Kind.PERSON) for drawn in (wiki, web)]
    assert names[0].most_common(1)[0][0] != names[1].most_common(1)[0][0]
    assert sum(len(m.skeleton) for m in web) < sum(len(m.skeleton) for m in wiki) - 0.3 * 2_000


@pytest.mark.parametrize("code", CODES)
def test_words_are_as_near_to_english_as_asked_and_stand_for_one_concept(languages, code):
    language, traits = languages[code], languages[code].traits
    words, english = (languages[c].words[Form.BASE] for c in (code, "en"))
    for kinds, wanted, off in (
        (CONTENT, traits.cognates, 0.006),
        (NAMES, traits.names, 0.006),
        ({Kind.DIGIT}, 1, 0),
        ({Kind.DETERMINER, Kind.PREPOSITION}, traits.function_words, 0),
    ):
        same = [words[i].lower() == english[i].lower() for i, concept in enumerate(CONCEPTS) if concept.kind in kinds]
        assert sum(same) / len(same) == pytest.approx(wanted, abs=off)
    apart = [sum(a != b for a, b in zip(*pair, strict=False)) for pair in zip(words, english, strict=True)]
    content = sum(concept.kind in CONTENT for concept in CONCEPTS)
    assert sum(count == 1 for count in apart) >= round(traits.lookalikes * content)
    owners: dict[str, set[int]] = {}
    for lists in (language.words, language.synonyms):
        for i, concept in enumerate(CONCEPTS):
            for form in used_forms(concept, traits):
                owners.setdefault(lists[form][i].lower(), set()).add(i)
    assert "" not in owners
    assert all(len(concepts) == 1 for concepts in owners.values())


def some_meanings(seed, domain, count=5):
    pair = next(nli_pairs(seed))
    return [pair.premise, pair.hypothesis, *islice(draw_meanings((seed,), domain), count)]


def check_tree(sentence):
    upos, heads, deprels, ner = sentence[2:6]
    assert 4 <= len(sentence.forms) <= 24
    assert {len(column) for column in (sentence.lemmas, upos, heads, deprels, ner)} == {len(sentence.forms)}
    arcs = [(head, i + 1) for i, head in enumerate(heads)]
    tree = networkx.DiGraph(arcs)
    assert networkx.is_arborescence(tree)
    for head, child in arcs:
        between = range(min(head, child) + 1, max(head, child))
        assert networkx.descendants(tree, head).issuperset(between), "not projective"
        assert (head == 0) == (deprels[child - 1] == "root")
    assert set(deprels) <= LABELS
    for previous, tag, part, label in zip(("O", *ner), ner, upos, deprels, strict=False):
        assert (tag == "O") == (part != "PROPN")
        assert (label == "flat") == tag.startswith("I-")
        assert not tag.startswith("I-") or previous[2:] == tag[2:]


@given(seed=st.integers(0, 2**32), domain=st.sampled_from(["wiki", "web"]))
@settings(max_examples=25)
def test_every_meaning_is_a_sentence_in_every_language(languages, seed, domain):
    for meaning in some_meanings(seed, domain):
        said = [language.realise(meaning) for language in languages.values()]
        for sentence, language in zip(said, languages.values(), strict=True):
            check_tree(sentence)
            assert sentence.text == language.text(meaning)
        assert len({tuple(sorted(tag for tag in sentence.ner if tag != "O")) for sentence in said}) == 1


@pytest.mark.parametrize("code", ["en", "fr", "de", "ru"])
def test_moses_gives_back_the_words(languages, code):
    tokenizer = MosesTokenizer(lang=code)
    meanings = (*some_meanings(7, "wiki", 100), *some_meanings(8, "web", 100))
    for one, other in pairwise(map(languages[code].realise, meanings)):
        words = [token.form for sentence in (one, other) for token in tokens(sentence)]
        assert tokenizer.tokenize(f"{one.text} {other.text}", escape=False) == words
        assert one.text[0].isupper() or one.text[0].isdigit()


def test_jieba_gives_back_the_words_where_there_are_no_spaces(languages, tmp_path):
    write_lines(tmp_path / "words.txt", jieba_dictionary(languages["zh"].word_list()))
    segmenter = jieba.Tokenizer(str(tmp_path / "words.txt"))
    segmenter.cache_file = str(tmp_path / "jieba.cache")
    latin = 0
    for meaning in (*some_meanings(7, "wiki", 300), *some_meanings(8, "web", 300)):
        sentence = languages["zh"].realise(meaning)
        words = [word for word in segmenter.cut(sentence.text, HMM=False) if not word.isspace()]
        assert words == list(sentence.forms)
        latin += " " in sentence.text
    assert latin > 0, "the sample has no Latin name, so it tests too little"


@pytest.mark.parametrize(
    ("before", "words"),  # on which sides of their heads the words with a label stand in a language
    [
        ({True}, ["en amod", "zh acl:relcl", "zh obl", "en nsubj"]),
        ({False}, ["fr amod", "en acl:relcl", "en obl", "en obj", "zh clf"]),
        ({True, False}, ["de obl", "de nsubj", "ru obj"]),
    ],
)
def test_each_language_has_its_own_word_order(languages, before, words):
    for code, label in map(str.split, words):
        trees = [languages[code].realise(meaning) for meaning in some_meanings(5, "wiki", 500)]
        assert {i + 1 < head for t in trees for i, head in enumerate(t.heads) if t.deprels[i] == label} == before


def test_german_main_verbs_are_second_and_russian_objects_lead_only_where_nobody_can_mistake_them(languages):
    orders = set()
    for meaning in some_meanings(5, "wiki", 1_000):
        german, russian = (languages[code].realise(meaning) for code in ("de", "ru"))
        verb = german.heads.index(0) + 1
        assert sum(head == verb for head in german.heads[: verb - 1]) == 1
        places = {russian.deprels[i]: i for i, head in enumerate(russian.heads) if head == russian.heads.index(0) + 1}
        if places["obj"] < places["nsubj"]:
            orders.add((russian.upos[places["obj"]], russian.upos[places["nsubj"]]))
    assert orders == {("NOUN", "PROPN")}


def test_a_paraphrase_says_the_same_in_other_words(languages):
    english, rng = languages["en"], python_rng("paraphrase")
    pairs = [(english.text(meaning), english.paraphrase(meaning, rng)) for meaning in some_meanings(4, "wiki", 1_000)]
    assert all(len(plain.split()) == len(other.split()) for plain, other in pairs)
    assert sum(plain != other for plain, other in pairs) / len(pairs) > 0.75


def sentences(pages):
    return [sentence for page in pages for paragraph in page.paragraphs for sentence in paragraph]


def test_corpora_are_not_parallel_and_every_seed_and_domain_is_another_draw(languages):
    drawn = {code: list(islice(documents(language, "wiki", 1), 100)) for code, language in languages.items()}
    plans = [[tuple(map(len, page.paragraphs)) for page in pages] for pages in drawn.values()]
    for one, other in combinations(plans, 2):
        assert sum(a == b for a, b in zip(one, other, strict=True)) < 0.15 * 100
    more = [islice(documents(languages["en"], domain, seed), 100) for domain, seed in (("wiki", 2), ("web", 1))]
    for one, other in combinations([sentences(pages)[:200] for pages in (drawn["en"], *more)], 2):
        assert sum(a == b for a, b in zip(one, other, strict=True)) < 10


@pytest.mark.parametrize("count", [1, 2, 3, 4, 50])
def test_exactly_the_sentences_asked_for(languages, count):
    pages = list(islice(documents(languages["fr"], "web", 1), 50))
    taken = list(take_sentences(pages, count))
    assert sentences(taken) == sentences(pages)[:count]
    assert all(page.paragraphs and all(page.paragraphs) for page in taken)


@pytest.mark.parametrize(("source", "target"), [("en", "fr"), ("en", "zh"), ("ru", "en")])
def test_dictionaries_cover_the_content_words(languages, source, target):
    entries = translations(languages[source], languages[target])
    assert len({(entry.source, entry.target) for entry in entries}) == len(entries)
    assert {entry.quality for entry in entries} == set(range(1, 10))
    best = {entry.source: entry.target for entry in sorted(entries, key=lambda entry: (entry.quality, entry.target))}
    left, right = (languages[code].words[Form.BASE] for code in (source, target))
    assert all(best[left[i]] == right[i] for i, concept in enumerate(CONCEPTS) if concept.kind in CONTENT)
    assert len(entries) - len({entry.source for entry in entries}) > 10, "some words have several translations"
    assert any(" " in entry.source for entry in entries)
