"""World and lexicon: sizes, frequencies, and how near the languages are to English."""

from collections import Counter
from itertools import islice

import opencc
import pytest

from xling.core.errors import XlingError
from xling.core.seeds import python_rng
from xling.synthetic.draw import SHARPNESS, WEB, WIKI, draw_meanings, sampler
from xling.synthetic.grammar import Form
from xling.synthetic.language import used_forms
from xling.synthetic.world import (
    ALONE,
    CONCEPTS,
    CONTENT,
    FIRST,
    NAMES,
    SECOND,
    Kind,
    WordMaker,
    build_world,
    concepts_of,
    hypernym,
)

CODES = ["en", "fr", "de", "ru", "zh"]


def shared(languages, code: str, kinds) -> float:
    ids = [i for i, concept in enumerate(CONCEPTS) if concept.kind in kinds]
    words, english = (languages[c].words[Form.BASE] for c in (code, "en"))
    return sum(words[i].lower() == english[i].lower() for i in ids) / len(ids)


def test_the_world_has_the_measured_sizes_and_words_of_its_seed() -> None:
    counts = Counter(concept.kind for concept in CONCEPTS)
    expected = {Kind.NOUN: 8 * 6, Kind.HYPERNYM: 8, Kind.VERB: 4 * 4, Kind.ADJECTIVE: 8 * 3, Kind.ADVERB: 4 * 2}
    expected |= dict.fromkeys(NAMES, 4 * 6) | {Kind.HEAD: 4, Kind.DIGIT: 9}
    assert {kind: counts[kind] for kind in expected} == expected
    assert Counter(map(hypernym, concepts_of(Kind.NOUN))) == dict.fromkeys(concepts_of(Kind.HYPERNYM), 6)
    one, other = build_world(1), build_world(2)
    assert one == build_world(1)
    assert len(set(one.roots)) == len(CONCEPTS)
    assert sum(a == b for a, b in zip(one.roots, other.roots, strict=True)) < 0.1 * len(CONCEPTS)


def test_a_script_without_words_left_is_named() -> None:
    maker = WordMaker("han", python_rng(1), taken=set(ALONE))
    with pytest.raises(XlingError, match="the script 'han' has no words left"):
        maker.make(short=True)


def test_choices_follow_the_topic_and_zipf() -> None:
    source, rng = sampler(WIKI), python_rng(1)
    people = [
        CONCEPTS[concept]
        for _ in range(20_000)
        for concept in source.meaning(rng, 1).concepts
        if CONCEPTS[concept].kind == Kind.PERSON
    ]
    own = Counter(person.rank for person in people if person.topic == 1)
    assert own.total() / len(people) == pytest.approx(SHARPNESS, abs=0.03)
    assert own[0] / own[1] == pytest.approx(2, rel=0.15)
    assert own[0] / own[2] == pytest.approx(3, rel=0.2)


def test_domains_differ_in_topics_names_and_style() -> None:
    draws = {domain: list(islice(draw_meanings((1,), domain), 5_000)) for domain in ("wiki", "web")}
    wiki, web = (Counter(meaning.topic for meaning in meanings).most_common(1) for meanings in draws.values())
    assert wiki[0][0] != web[0][0]
    length = {domain: sum(len(m.skeleton) for m in meanings) / 5_000 for domain, meanings in draws.items()}
    assert length["web"] < length["wiki"] - 0.3
    first = {style.name: sampler(style).tables[0][Kind.PERSON] for style in (WIKI, WEB)}
    assert Counter(first["wiki"]).most_common(1) != Counter(first["web"]).most_common(1)


def test_shares_of_words_like_english_are_those_asked_for(languages) -> None:
    for code in CODES:
        traits = languages[code].traits
        assert shared(languages, code, CONTENT) == pytest.approx(traits.cognates, abs=0.006)
        assert shared(languages, code, NAMES) == pytest.approx(traits.names, abs=0.006)
        assert shared(languages, code, {Kind.DIGIT}) == 1
        assert shared(languages, code, {Kind.DETERMINER, Kind.PREPOSITION}) == traits.function_words


def test_near_to_far(languages) -> None:
    words = {code: {word.lower() for word, _ in languages[code].word_list()} for code in CODES}
    overlap = {code: len(own & words["en"]) / len(own) for code, own in words.items()}
    assert 1 == overlap["en"] > overlap["fr"] > overlap["de"] > overlap["ru"] + 0.1
    assert overlap["ru"] > overlap["zh"] > 0


def test_lookalikes_differ_in_one_letter(languages) -> None:
    words, english = (languages[code].words[Form.BASE] for code in ("fr", "en"))
    apart = [
        sum(a != b for a, b in zip(word, root, strict=True)) if len(word) == len(root) else 9
        for word, root in zip(words, english, strict=True)
    ]
    content = sum(concept.kind in CONTENT for concept in CONCEPTS)
    assert sum(count == 1 for count in apart) >= round(0.15 * content)


@pytest.mark.parametrize("code", CODES)
def test_a_form_stands_for_one_concept(languages, code: str) -> None:
    language = languages[code]
    owners: dict[str, set[int]] = {}
    for lists in (language.words, language.synonyms):
        for i, concept in enumerate(CONCEPTS):
            for form in used_forms(concept, language.traits):
                owners.setdefault(lists[form][i].lower(), set()).add(i)
    assert all(len(concepts) == 1 for concepts in owners.values())
    assert "" not in owners


def test_characters_are_the_same_in_both_chinese_scripts() -> None:
    assert len(set(ALONE + FIRST + SECOND)) == len(ALONE) + len(FIRST) + len(SECOND)
    for scheme in ("t2s", "s2t"):
        assert opencc.OpenCC(scheme).convert(ALONE + FIRST + SECOND) == ALONE + FIRST + SECOND
