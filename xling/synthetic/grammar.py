"""From a skeleton to a laid-out sentence: which words in which order, with tree and entities, in one language.

A template holds no words: it says which form of which concept stands at each place. See UD's guidelines for labels.
"""

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from itertools import pairwise

from xling.synthetic.meaning import Phrase, Slot, place_of
from xling.synthetic.traits import Traits

Parts = dict[Slot, int]  # slot -> place in the meaning's concepts


class Form(StrEnum):
    """The forms a concept can have."""

    BASE = "base"
    COUNTED = "counted"
    OBLIQUE = "oblique"
    CLASSIFIER = "classifier"  # of a noun
    FUSED = "fused"  # a preposition with the definite article
    NAME = "name"  # always with a capital
    COMMA = "comma"
    STOP = "stop"


class Order(IntEnum):
    """What a sentence begins with."""

    PLAIN = 0
    ADJUNCT_FIRST = 1
    OBJECT_FIRST = 2


@dataclass(eq=False, slots=True)
class Node:
    """A word to be: the form of the concept at a place, and its place in the tree."""

    form: Form
    concept: int
    upos: str
    deprel: str = "root"
    head: "Node | None" = None
    ner: str = "O"


@dataclass(frozen=True, slots=True)
class Template:
    """A laid-out sentence; `fused` holds the places of a preposition that is printed as one with the next word."""

    words: tuple[tuple[Form, int], ...]
    upos: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    ner: tuple[str, ...]
    fused: tuple[int, ...]


@dataclass(slots=True)
class Span:
    """Neighbouring words and the one that stands for them in the tree."""

    head: Node
    words: list[Node] = field(default_factory=list)


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


def layout(skeleton: tuple[int, ...], traits: Traits, order: Order) -> Template:
    """Return the template of a skeleton in a language."""
    phrases: dict[tuple[int, Phrase], Parts] = {}
    for place, number in enumerate(skeleton):
        clause, phrase, slot = place_of(number)
        phrases.setdefault((clause, phrase), {})[slot] = place
    first = _clause({phrase: parts for (clause, phrase), parts in phrases.items() if clause == 0}, traits, order)
    words = list(first.words)
    if (1, Phrase.CLAUSE) in phrases:
        words += _coordinated(
            {phrase: parts for (clause, phrase), parts in phrases.items() if clause == 1}, traits, first
        )
    words.append(Node(Form.STOP, 0, "PUNCT", "punct", first.head))
    return _template(words, traits)


def _template(words: list[Node], traits: Traits) -> Template:
    index = {id(node): i + 1 for i, node in enumerate(words)}
    fused = [
        i
        for i, (node, following) in enumerate(pairwise(words))
        if traits.contractions and node.form == Form.FUSED and following.deprel == "det"
    ]
    for node in words:
        node.form = Form.BASE if node.form == Form.FUSED else node.form
    return Template(
        words=tuple((node.form, node.concept) for node in words),
        upos=tuple(node.upos for node in words),
        heads=tuple(0 if node.head is None else index[id(node.head)] for node in words),
        deprels=tuple(node.deprel for node in words),
        ner=tuple(node.ner for node in words),
        fused=tuple(fused),
    )


def _coordinated(phrases: dict[Phrase, Parts], traits: Traits, first: Span) -> list[Node]:
    """Return comma, conjunction and second clause."""
    second = _clause(phrases, traits, Order.PLAIN)
    second.head.head, second.head.deprel = first.head, "conj"
    link = Node(Form.BASE, phrases[Phrase.CLAUSE][Slot.LINK], "CCONJ", "cc", second.head)
    return [Node(Form.COMMA, 0, "PUNCT", "punct", second.head), link, *second.words]


def _clause(phrases: dict[Phrase, Parts], traits: Traits, order: Order) -> Span:
    """Return subject, verb and the rest in the language's order."""
    own = phrases[Phrase.CLAUSE]
    verb = Node(Form.BASE, own[Slot.VERB], "VERB")
    subject = _host(phrases, Phrase.SUBJECT, "nsubj", verb, traits)
    target = _host(phrases, Phrase.OBJECT, "obj", verb, traits)
    oblique = _oblique(phrases.get(Phrase.OBLIQUE, {}), verb, traits)
    adverb = [_dependent(slot, own, verb) for slot in (Slot.ADVERB, Slot.SOMEHOW) if slot in own]
    negation = [_dependent(Slot.NOT, own, verb)] if Slot.NOT in own else []
    front: list[Node] = []
    if order == Order.ADJUNCT_FIRST and oblique:
        front, oblique = oblique, []
    elif order == Order.ADJUNCT_FIRST and adverb:
        front, adverb = adverb, []
    elif order == Order.OBJECT_FIRST and _only_one_can_act(phrases):
        front, target = target, []
    predicate = [*negation, verb] if traits.negation == "before" else [verb, *negation]
    return Span(verb, _ordered(traits, front, subject, predicate, target, oblique, adverb))


def _only_one_can_act(phrases: dict[Phrase, Parts]) -> bool:
    """Say whether subject and object cannot be confused: nothing but order tells two beings or persons apart."""
    return Slot.NOUN in phrases[Phrase.OBJECT] and Slot.NOUN not in phrases[Phrase.SUBJECT]


def _ordered(
    traits: Traits,
    front: list[Node],
    subject: list[Node],
    predicate: list[Node],
    target: list[Node],
    oblique: list[Node],
    adverb: list[Node],
) -> list[Node]:
    early = (adverb if traits.adverb == "before" else []) + (oblique if traits.oblique == "before" else [])
    late = (oblique if traits.oblique == "after" else []) + (adverb if traits.adverb == "last" else [])
    near = adverb if traits.adverb == "after" else []
    if traits.verb == "final":
        return [*front, *subject, *early, *late, *near, *target, *predicate]
    if traits.verb == "second" and front:
        return [*front, *predicate, *subject, *early, *near, *target, *late]
    return [*front, *subject, *early, *predicate, *near, *target, *late]


def _host(phrases: dict[Phrase, Parts], phrase: Phrase, label: str, verb: Node, traits: Traits) -> list[Node]:
    """Return a subject or object with its relative clause."""
    span = _noun_phrase(phrases[phrase], Form.BASE, traits)
    span.head.head, span.head.deprel = verb, label
    inner = Phrase.SUBJECT_RELATIVE if phrase == Phrase.SUBJECT else Phrase.OBJECT_RELATIVE
    if inner not in phrases:
        return span.words
    relative = _relative(phrases[inner], phrases[Phrase(inner + 1)], span.head, traits)
    return relative + span.words if traits.relative == "before" else span.words + relative


def _relative(own: Parts, target: Parts, host: Node, traits: Traits) -> list[Node]:
    """Return a relative clause: its marker is a pronoun before it, or a particle between it and its head."""
    verb = Node(Form.BASE, own[Slot.VERB], "VERB", "acl:relcl", host)
    span = _noun_phrase(target, Form.BASE, traits)
    span.head.head, span.head.deprel = verb, "obj"
    body = [verb, *span.words] if traits.verb == "middle" else [*span.words, verb]
    if traits.relative == "before":
        return [*body, Node(Form.BASE, own[Slot.WHO], "PART", "mark", verb)]
    return [Node(Form.BASE, own[Slot.WHO], "PRON", "nsubj", verb), *body]


def _oblique(parts: Parts, verb: Node, traits: Traits) -> list[Node]:
    if not parts:
        return []
    span = _noun_phrase(parts, Form.OBLIQUE, traits)
    span.head.head, span.head.deprel = verb, "obl"
    slot = Slot.FUSING if Slot.FUSING in parts else Slot.PREPOSITION
    preposition = _dependent(slot, parts, span.head)
    preposition.form = Form.FUSED if slot == Slot.FUSING else Form.BASE
    return [preposition, *span.words]


def _noun_phrase(parts: Parts, form: Form, traits: Traits) -> Span:
    """Return a phrase without what governs it: a name, a pronoun, or a noun with what belongs to it."""
    if Slot.PERSON in parts:
        return _name([Slot.PERSON, Slot.SURNAME], "PER", parts)
    if Slot.ORGANISATION in parts:
        order = [Slot.ORGANISATION, Slot.HEAD]
        return _name(order if traits.organisation_head == "after" else order[::-1], "ORG", parts)
    if Slot.PLACE in parts:
        place = Node(form, parts[Slot.PLACE], "PROPN", ner="B-LOC")
        return Span(place, [place])
    for slot in (Slot.SOMEONE, Slot.SOMEWHERE):
        if slot in parts:
            pronoun = Node(form, parts[slot], "PRON")
            return Span(pronoun, [pronoun])
    return _common(parts, form, traits)


def _name(slots: list[Slot], tag: str, parts: Parts) -> Span:
    nodes = [Node(Form.NAME, parts[slot], "PROPN") for slot in slots if slot in parts]
    for i, node in enumerate(nodes):
        node.ner = f"{'I' if i else 'B'}-{tag}"
        if i:
            node.head, node.deprel = nodes[0], "flat"
    return Span(nodes[0], nodes)


def _common(parts: Parts, form: Form, traits: Traits) -> Span:
    counted = Slot.NUMBER in parts or Slot.SOME in parts
    noun = Node(Form.COUNTED if counted and form == Form.BASE else form, parts[Slot.NOUN], "NOUN")
    dropped = {Slot.ARTICLE} if traits.drops_article else set()
    left = [
        _dependent(slot, parts, noun)
        for slot in (Slot.ARTICLE, Slot.DETERMINER, Slot.NUMBER, Slot.SOME)
        if slot in parts and slot not in dropped
    ]
    if counted and traits.classifier:
        left.append(Node(Form.CLASSIFIER, parts[Slot.NOUN], "NOUN", "clf", left[-1]))
    adjectives = [_dependent(slot, parts, noun) for slot in (Slot.ADJECTIVE, Slot.CERTAIN) if slot in parts]
    before = traits.adjective == "before"
    return Span(noun, [*left, *adjectives, noun] if before else [*left, noun, *adjectives])


def _dependent(slot: Slot, parts: Parts, head: Node) -> Node:
    upos, label = UPOS_AND_LABEL[slot]
    return Node(Form.BASE, parts[slot], upos, label, head)
