"""Lay out a skeleton (the set of parts of a meaning) as a sentence of one language, with tree and entities.

A layout holds no words, but the form and the concept's index for each word. Labels follow the UD guidelines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from xling.synthetic.meaning import Phrase, Slot, place_of
from xling.synthetic.traits import Differences

Parts = dict[Slot, int]  # slot -> index in the concepts of a meaning


class Form(StrEnum):
    """The forms of a concept's word."""

    BASE = "base"
    COUNTED = "counted"
    OBLIQUE = "oblique"
    CLASSIFIER = "classifier"  # the classifier of a noun
    FUSED = "fused"  # a preposition printed as one word with the following definite article
    NAME = "name"  # always capitalised
    COMMA = "comma"
    STOP = "stop"


class Order(IntEnum):
    """The first constituent of a sentence; PLAIN is the default order of the language."""

    PLAIN = 0
    ADJUNCT_FIRST = 1
    OBJECT_FIRST = 2


@dataclass(eq=False, slots=True)
class Node:
    """A word of a layout: its form, the index of its concept in a meaning, and its position in the tree."""

    form: Form
    concept: int
    upos: str
    deprel: str = "root"
    head: "Node | None" = None
    ner: str = "O"


UPOS_AND_LABEL = {
    Slot.ARTICLE: ("DET", "det"),
    Slot.DETERMINER: ("DET", "det"),
    Slot.SOME: ("DET", "det"),
    Slot.NUMBER: ("NUM", "nummod"),
    Slot.ADJECTIVE: ("ADJ", "amod"),
    Slot.CERTAIN: ("ADJ", "amod"),
    Slot.ADVERB: ("ADV", "advmod"),
    Slot.SOMEHOW: ("ADV", "advmod"),
    Slot.NOT: ("PART", "advmod"),
    Slot.PREPOSITION: ("ADP", "case"),
    Slot.FUSING: ("ADP", "case"),
}


def layout(skeleton: tuple[int, ...], traits: Differences, order: Order) -> list[Node]:
    """Return the nodes of a skeleton in the word order of a language."""
    clauses: dict[int, dict[Phrase, Parts]] = {}
    for place, number in enumerate(skeleton):
        clause, phrase, slot = place_of(number)
        clauses.setdefault(clause, {}).setdefault(phrase, {})[slot] = place
    verb, words = _clause(clauses[0], traits, order)
    if 1 in clauses:
        second, more = _clause(clauses[1], traits, Order.PLAIN)
        second.head, second.deprel = verb, "conj"
        link = Node(Form.BASE, clauses[1][Phrase.CLAUSE][Slot.LINK], "CCONJ", "cc", second)
        words += [Node(Form.COMMA, 0, "PUNCT", "punct", second), link, *more]
    return [*words, Node(Form.STOP, 0, "PUNCT", "punct", verb)]


def _clause(phrases: dict[Phrase, Parts], traits: Differences, order: Order) -> tuple[Node, list[Node]]:
    """Return the verb, and all nodes of the clause in the word order of the language."""
    own = phrases[Phrase.CLAUSE]
    verb = Node(Form.BASE, own[Slot.VERB], "VERB")
    subject = _host(phrases, Phrase.SUBJECT, "nsubj", verb, traits)
    target = _host(phrases, Phrase.OBJECT, "obj", verb, traits)
    oblique = _oblique(phrases.get(Phrase.OBLIQUE, {}), verb, traits)
    adverb = _dependents((Slot.ADVERB, Slot.SOMEHOW), own, verb)
    negation = _dependents((Slot.NOT,), own, verb)
    front: list[Node] = []
    if order == Order.ADJUNCT_FIRST and oblique:
        front, oblique = oblique, []
    elif order == Order.ADJUNCT_FIRST and adverb:
        front, adverb = adverb, []
    # Only word order tells two beings or persons apart, so the object comes first only if it cannot be the subject.
    elif (
        order == Order.OBJECT_FIRST and Slot.NOUN in phrases[Phrase.OBJECT] and Slot.NOUN not in phrases[Phrase.SUBJECT]
    ):
        front, target = target, []
    predicate = [*negation, verb] if traits.negation == "before" else [verb, *negation]
    early = (adverb if traits.adverb == "before" else []) + (oblique if traits.oblique == "before" else [])
    late = (oblique if traits.oblique == "after" else []) + (adverb if traits.adverb == "last" else [])
    near = adverb if traits.adverb == "after" else []
    if traits.verb == "final":
        return verb, [*front, *subject, *early, *late, *near, *target, *predicate]
    if traits.verb == "second" and front:
        return verb, [*front, *predicate, *subject, *early, *near, *target, *late]
    return verb, [*front, *subject, *early, *predicate, *near, *target, *late]


def _host(phrases: dict[Phrase, Parts], phrase: Phrase, label: str, verb: Node, traits: Differences) -> list[Node]:
    """Return a subject or object, with its relative clause if it has one."""
    host, words = _noun_phrase(phrases[phrase], Form.BASE, label, verb, traits)
    inner = Phrase.SUBJECT_RELATIVE if phrase == Phrase.SUBJECT else Phrase.OBJECT_RELATIVE
    if inner not in phrases:
        return words
    relative = _relative(phrases[inner], phrases[Phrase(inner + 1)], host, traits)
    return relative + words if traits.relative == "before" else words + relative


def _relative(own: Parts, target: Parts, host: Node, traits: Differences) -> list[Node]:
    """Return a relative clause; if it follows its noun, it begins with a pronoun, otherwise it ends with a particle."""
    verb = Node(Form.BASE, own[Slot.VERB], "VERB", "acl:relcl", host)
    _, words = _noun_phrase(target, Form.BASE, "obj", verb, traits)
    body = [verb, *words] if traits.verb == "middle" else [*words, verb]
    if traits.relative == "before":
        return [*body, Node(Form.BASE, own[Slot.WHO], "PART", "mark", verb)]
    return [Node(Form.BASE, own[Slot.WHO], "PRON", "nsubj", verb), *body]


def _oblique(parts: Parts, verb: Node, traits: Differences) -> list[Node]:
    if not parts:
        return []
    head, words = _noun_phrase(parts, Form.OBLIQUE, "obl", verb, traits)
    (preposition,) = _dependents((Slot.FUSING, Slot.PREPOSITION), parts, head)
    if traits.contractions and Slot.FUSING in parts and words[0].deprel == "det":
        preposition.form = Form.FUSED
    return [preposition, *words]


def _noun_phrase(parts: Parts, form: Form, label: str, verb: Node, traits: Differences) -> tuple[Node, list[Node]]:
    """Return the head and the words of a phrase: a name, a pronoun, or a noun with its modifiers."""
    if Slot.PERSON in parts:
        return _name((Slot.PERSON, Slot.SURNAME), "PER", parts, label, verb)
    if Slot.ORGANISATION in parts:
        after = traits.organisation_head == "after"
        order = (Slot.ORGANISATION, Slot.HEAD) if after else (Slot.HEAD, Slot.ORGANISATION)
        return _name(order, "ORG", parts, label, verb)
    for slot, upos, ner in ((Slot.PLACE, "PROPN", "B-LOC"), (Slot.SOMEONE, "PRON", "O"), (Slot.SOMEWHERE, "PRON", "O")):
        if slot in parts:
            word = Node(form, parts[slot], upos, label, verb, ner)
            return word, [word]
    counted = Slot.NUMBER in parts or Slot.SOME in parts
    noun = Node(Form.COUNTED if counted and form == Form.BASE else form, parts[Slot.NOUN], "NOUN", label, verb)
    article = () if traits.drops_article else (Slot.ARTICLE,)
    left = _dependents((*article, Slot.DETERMINER, Slot.NUMBER, Slot.SOME), parts, noun)
    if counted and traits.classifier:
        left.append(Node(Form.CLASSIFIER, parts[Slot.NOUN], "NOUN", "clf", left[-1]))
    adjectives = _dependents((Slot.ADJECTIVE, Slot.CERTAIN), parts, noun)
    return noun, [*left, *adjectives, noun] if traits.adjective == "before" else [*left, noun, *adjectives]


def _name(slots: Sequence[Slot], tag: str, parts: Parts, label: str, verb: Node) -> tuple[Node, list[Node]]:
    first, *others = [parts[slot] for slot in slots if slot in parts]
    head = Node(Form.NAME, first, "PROPN", label, verb, f"B-{tag}")
    return head, [head, *(Node(Form.NAME, concept, "PROPN", "flat", head, f"I-{tag}") for concept in others)]


def _dependents(slots: Sequence[Slot], parts: Parts, head: Node) -> list[Node]:
    """Return a node for each of the given slots that the phrase has."""
    return [Node(Form.BASE, parts[slot], *UPOS_AND_LABEL[slot], head) for slot in slots if slot in parts]
