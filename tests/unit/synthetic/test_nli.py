"""Inference pairs: listing the events gives every label, and surface statistics do not."""

from collections import Counter
from itertools import islice, product

import pytest
from scipy.sparse import hstack
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from xling.synthetic.grammar import Form
from xling.synthetic.meaning import GENERIC, NEGATION, exchange_roles, parts_of, place_of
from xling.synthetic.nli import OBJECT, SLOTS, balanced_pairs, nli_pairs
from xling.synthetic.world import BY_GLOSS, CONCEPTS, Kind, concepts_of, hypernym

TRAIN, DEV = 6_000, 2_000
PAIRS = list(islice(nli_pairs(1), TRAIN + DEV))
OUTSIDE = -1  # a value that no sentence names


def extension(meaning, ranges):
    """Return the events that a meaning allows, listed one by one; None of them is that nothing happened."""
    parts = parts_of(meaning)
    allowed = []
    for number, values in ranges.items():
        said = parts.get(number)
        if number == OBJECT and said is not None and CONCEPTS[said].kind == Kind.HYPERNYM:
            allowed.append({value for value in values if value != OUTSIDE and hypernym(value) == said})
        else:
            allowed.append(set(values) if said is None else {said})
    holds = set(product(*allowed))
    everything = set(product(*ranges.values())) | {()}
    return everything - holds if NEGATION in parts else holds


def label_by_listing(pair):
    """Return the label of a pair about one event from the lists of events, the definition itself."""
    ranges = {}
    for number in (OBJECT, *SLOTS):
        said = {parts_of(meaning).get(number) for meaning in (pair.premise, pair.hypothesis)} - {None}
        nouns = {noun for noun in concepts_of(Kind.NOUN) if hypernym(noun) in said}
        exact = {value for value in said if CONCEPTS[value].kind != Kind.HYPERNYM}
        ranges[number] = sorted(nouns | exact | {OUTSIDE})
    premise, hypothesis = extension(pair.premise, ranges), extension(pair.hypothesis, ranges)
    if premise <= hypothesis:
        return "entailment"
    return "contradiction" if not premise & hypothesis else "neutral"


def is_exchange(pair):
    left, right = parts_of(pair.premise), parts_of(pair.hypothesis)
    left.pop(NEGATION, None), right.pop(NEGATION, None)
    return left != right and exchange_roles(left) == right


def test_listing_the_events_gives_every_label():
    for pair in PAIRS[:1_500]:
        assert ("neutral" if is_exchange(pair) else label_by_listing(pair)) == pair.label
    assert min(Counter(pair.label for pair in PAIRS).values()) > 0.31 * len(PAIRS)


def test_exchanged_roles_keep_the_words_and_only_negation_changes_the_length(languages):
    pairs = [pair for pair in PAIRS if is_exchange(pair)]
    assert len(pairs) > 0.1 * len(PAIRS)
    for pair in (*pairs[:100], *PAIRS[:300]):
        for language in languages.values():
            negation = language.words[Form.BASE][BY_GLOSS["not"]]
            sides = [language.realise(meaning).forms for meaning in (pair.premise, pair.hypothesis)]
            bags = [Counter(form.lower() for form in side if form != negation) for side in sides]
            assert bags[0] == bags[1] if is_exchange(pair) else bags[0].total() == bags[1].total()
    generic = set(GENERIC.values())
    columns = zip(*((pair.premise, pair.hypothesis) for pair in PAIRS), strict=True)
    counts = [sum(any(place_of(part)[2] in generic for part in side.skeleton) for side in column) for column in columns]
    assert min(counts) > 0.2 * len(PAIRS)
    assert abs(counts[0] - counts[1]) < 0.05 * len(PAIRS)  # generic slots stand on both sides


def surface(premise, hypothesis, negation):
    """Return overlap, lengths and negations of a pair, all that a glance at two bags of words shows."""
    sizes = [len(premise.split()), len(hypothesis.split())]
    one, other = set(premise.split()), set(hypothesis.split())
    negated = (negation in one, negation in other)
    return (
        {"overlap": len(one & other) / len(one | other), "covered": len(one & other) / len(other)}
        | {"only premise": len(one - other), "only hypothesis": len(other - one)}
        | {"length": sizes[0], "other length": sizes[1], "longer": sizes[1] - sizes[0]}
        | {"not": negated[0], "other not": negated[1], "one not": negated[0] != negated[1], "both": all(negated)}
    )


def test_surface_statistics_do_not_give_it_away(languages):
    english, labels = languages["en"], [pair.label for pair in PAIRS]
    negation = english.words[Form.BASE][BY_GLOSS["not"]]
    sides = [[english.text(m).lower().rstrip(".") for m in (p.premise, p.hypothesis)] for p in PAIRS]
    premise, hypothesis = (CountVectorizer(analyzer=str.split).fit_transform(side) for side in zip(*sides, strict=True))
    both = hstack([premise, hypothesis, DictVectorizer().fit_transform([surface(*side, negation) for side in sides])])
    for vectors, bar in ((hypothesis, 0.40), (both.tocsr(), 0.50)):
        model = make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=1_000, tol=1e-2))
        model.fit(vectors[:TRAIN], labels[:TRAIN])
        assert model.score(vectors[TRAIN:], labels[TRAIN:]) <= bar


@pytest.mark.parametrize("number", [1, 300, 301, 302])
def test_a_constant_guess_is_chance(number):
    pairs = list(balanced_pairs(5, number))
    counts = Counter(pair.label for pair in pairs)
    assert len(pairs) == number
    assert max(counts.values()) - min(counts[label] for label in ("entailment", "neutral", "contradiction")) <= 1
