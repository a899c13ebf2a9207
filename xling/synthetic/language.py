"""One embedded language: its words, and how it says meanings, as running text or with tree and entities."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from xling.core.seeds import python_rng
from xling.synthetic.grammar import Form, Order, layout
from xling.synthetic.meaning import AND, LINK, Meaning, Phrase, Slot, parts_of, place_of, swap_clauses
from xling.synthetic.traits import Differences
from xling.synthetic.world import (
    BY_GLOSS,
    CONCEPTS,
    CONTENT,
    FUSING,
    NAMES,
    NOUNS,
    SHORT,
    Concept,
    Kind,
    WordMaker,
    World,
    concepts_of,
)

Lists = dict[Form, list[str]]  # the words of a language in each form, indexed by concept
Cells = tuple[tuple[list[str], int], ...]  # word list and place in the meaning's concepts

WITH_SYNONYMS = frozenset({Kind.NOUN, Kind.ADJECTIVE, Kind.VERB, Kind.ADVERB})
CASED = frozenset({"latin", "cyrillic", "greek"})
ADJUNCTS = {(Phrase.OBLIQUE, Slot.PREPOSITION), (Phrase.OBLIQUE, Slot.FUSING)}
ADJUNCTS |= {(Phrase.CLAUSE, Slot.ADVERB), (Phrase.CLAUSE, Slot.SOMEHOW)}
WORD = {Form.FUSED: Form.BASE}
LEMMA = WORD | {Form.COUNTED: Form.BASE, Form.OBLIQUE: Form.BASE}


class Tree(NamedTuple):
    """What a treebank says about the words of a sentence besides their forms."""

    upos: tuple[str, ...]
    heads: tuple[int, ...]  # 1-based, 0 is the root
    deprels: tuple[str, ...]
    ner: tuple[str, ...]  # BIO over PER, LOC, ORG


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of one language: words as a treebank has them, tree, entities and running text."""

    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    tree: Tree
    merged: dict[int, str]  # place of a word that is printed as one with the next, and as what: `du` for `de le`
    text: str  # as it is printed: punctuation attached, no spaces where the script has none


@dataclass(frozen=True, slots=True)
class Plan:
    """A laid-out sentence whose forms have been looked up: only the concepts are missing."""

    tree: Tree
    words: Cells
    lemmas: Cells
    fused: dict[int, tuple[list[str], int]]
    printed: Cells
    pattern: str


class Language:
    """One embedded language in one world; `words` are its words, `synonyms` the same with second words in places."""

    def __init__(self, code: str, traits: Differences, world: World) -> None:
        self.traits, self.world, self.code = traits, world, code
        inside = self.words, self.synonyms = build_lexicon(code, traits, world)
        self._inside = inside
        self._initial = [_each_word(lists, capital) for lists in inside] if traits.script in CASED else inside
        self._padded = inside if traits.spaces else [_each_word(lists, _pad) for lists in inside]
        self._plans: dict[tuple[tuple[int, ...], Order, bool], Plan] = {}

    def text(self, meaning: Meaning, synonyms: bool = False) -> str:
        """Return a meaning as running text, with second words where there are some if asked."""
        return self._text(self._plan(meaning.skeleton, self._order(meaning), synonyms), meaning.concepts)

    def realise(self, meaning: Meaning) -> Sentence:
        """Return a meaning as a sentence with its tree and entities."""
        plan, concepts = self._plan(meaning.skeleton, self._order(meaning), synonyms=False), meaning.concepts
        return Sentence(
            forms=tuple([words[concepts[place]] for words, place in plan.words]),
            lemmas=tuple([words[concepts[place]] for words, place in plan.lemmas]),
            tree=plan.tree,
            merged={i: words[concepts[place]] for i, (words, place) in plan.fused.items()},
            text=self._text(plan, concepts),
        )

    def paraphrase(self, meaning: Meaning, rng: Random) -> str:
        """Return a meaning said in another way: other words, another beginning, clauses the other way round."""
        if parts_of(meaning).get(LINK) == AND and rng.random() < 0.5:
            meaning = swap_clauses(meaning)
        order = self._order(meaning)
        parts = {(phrase, slot) for clause, phrase, slot in map(place_of, meaning.skeleton) if clause == 0}
        if ADJUNCTS & parts and rng.random() < 0.7:
            order = Order.PLAIN if order == Order.ADJUNCT_FIRST else Order.ADJUNCT_FIRST
        return self._text(self._plan(meaning.skeleton, order, synonyms=True), meaning.concepts)

    def word_list(self) -> list[tuple[str, int]]:
        """Return every form with a frequency, as a segmenter's dictionary wants them, frequent ones first."""
        counts: dict[str, int] = {}
        for lists in self._inside:
            for i, concept in enumerate(CONCEPTS):
                for form in used_forms(concept, self.traits):
                    frequency = (10_000 if concept.topic < 0 else 1_000) // (concept.rank + 1)
                    counts[lists[form][i]] = max(counts.get(lists[form][i], 0), frequency)
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    def _text(self, plan: Plan, concepts: tuple[int, ...]) -> str:
        text = plan.pattern % tuple([words[concepts[place]] for words, place in plan.printed])
        if self.traits.spaces or " " not in text:
            return text
        for mark in (self.traits.comma, self.traits.full_stop):  # only Latin words are kept apart by spaces
            text = text.replace(f" {mark}", mark)
        return " ".join(text.split())

    def _order(self, meaning: Meaning) -> Order:
        """Return what a sentence begins with; the meaning itself is the die, so that it is always said alike."""
        traits = self.traits
        die = sum(meaning.concepts) * 7919 % 1009 / 1009
        if die < traits.front_object:
            return Order.OBJECT_FIRST
        return Order.ADJUNCT_FIRST if die < traits.front_object + traits.front_adjunct else Order.PLAIN

    def _plan(self, skeleton: tuple[int, ...], order: Order, synonyms: bool) -> Plan:
        plan = self._plans.get((skeleton, order, synonyms))
        if plan is None:
            plan = self._plans[skeleton, order, synonyms] = self._make_plan(skeleton, order, synonyms)
        return plan

    def _make_plan(self, skeleton: tuple[int, ...], order: Order, synonyms: bool) -> Plan:
        nodes = layout(skeleton, self.traits, order)
        numbers = {id(node): i for i, node in enumerate(nodes, start=1)} | {id(None): 0}
        inside, padded, spaces = self._inside[synonyms], self._padded[synonyms], self.traits.spaces
        at = [self._initial[synonyms], *[inside] * (len(nodes) - 1)]  # the lists for each place
        words = tuple((at[i][WORD.get(node.form, node.form)], node.concept) for i, node in enumerate(nodes))
        fused = {i: (at[i][Form.FUSED], node.concept) for i, node in enumerate(nodes) if node.form == Form.FUSED}
        shown = [(i, node) for i, node in enumerate(nodes) if i - 1 not in fused]
        gaps = ("" if i == 0 or not spaces or node.form in (Form.COMMA, Form.STOP) else " " for i, node in shown)
        return Plan(
            tree=Tree(
                upos=tuple(node.upos for node in nodes),
                heads=tuple(numbers[id(node.head)] for node in nodes),
                deprels=tuple(node.deprel for node in nodes),
                ner=tuple(node.ner for node in nodes),
            ),
            words=words,
            lemmas=tuple((inside[LEMMA.get(node.form, node.form)], node.concept) for node in nodes),
            fused=fused,
            printed=tuple(
                fused.get(i) or (words[i] if spaces else (padded[node.form], node.concept)) for i, node in shown
            ),
            pattern="".join(f"{gap}%s" for gap in gaps),
        )


def build_lexicon(code: str, traits: Differences, world: World) -> tuple[Lists, Lists]:
    """Return the words of a language, and the same with second words for the share of them that has synonyms."""
    rng = python_rng("lexicon", world.seed, code)
    maker = WordMaker(traits.script, rng, traits.accents, taken=set(world.roots))
    words = _first_words(traits, world, rng, maker)
    second = list(words)
    for concept in _share(rng, WITH_SYNONYMS, traits.synonyms):
        second[concept] = maker.make(short=False)
    return _forms(words, traits), _forms(second, traits)


def used_forms(concept: Concept, traits: Differences) -> list[Form]:
    """Return the forms in which a concept's word occurs in a language's sentences."""
    if concept.kind == Kind.CLASSIFIER:
        return [Form.BASE] if traits.classifier else []
    if concept.kind == Kind.FUSED:
        return [Form.BASE] if traits.contractions else []
    forms = [Form.NAME if concept.kind == Kind.HEAD else Form.BASE]
    if concept.kind in NOUNS:
        forms.append(Form.COUNTED)
    if concept.kind in NOUNS or concept.kind == Kind.PLACE or concept.gloss == "somewhere":
        forms.append(Form.OBLIQUE)
    return forms


def _first_words(traits: Differences, world: World, rng: Random, maker: WordMaker) -> list[str]:
    """Return a word for each concept: the international one for the shares the traits name, else one of its own."""
    content = _share(rng, CONTENT, traits.cognates + traits.lookalikes)
    same = set(content[: round(traits.cognates * sum(concept.kind in CONTENT for concept in CONCEPTS))])
    same |= set(_share(rng, NAMES, traits.names)) | set(concepts_of(Kind.DIGIT))
    same |= set(_share(rng, frozenset(Kind) - CONTENT - NAMES - {Kind.DIGIT}, traits.function_words))
    alike = set(content) - same
    words = []
    for concept, root in enumerate(world.roots):
        if concept in same:
            words.append(root)
        elif concept in alike:
            words.append(maker.respell(root))
        else:
            words.append(maker.make(short=CONCEPTS[concept].kind in SHORT))
    return words


def capital(word: str) -> str:
    """Return a word with its first letter in upper case."""
    return word[:1].upper() + word[1:]


def _forms(words: list[str], traits: Differences) -> dict[Form, list[str]]:
    def printed(word: str, kind: Kind) -> str:
        """Return a word with the capital that it has within a sentence."""
        wants = kind in NAMES or (traits.capital_nouns and kind in NOUNS)
        return capital(word) if wants and (traits.script in CASED or word.isascii()) else word

    def inflected(suffix: str) -> list[str]:
        """Return the words with a suffix; words in a foreign script take none."""
        return [word if traits.script != "latin" and word.isascii() else word + suffix for word in base]

    base = [printed(word, concept.kind) for word, concept in zip(words, CONCEPTS, strict=True)]
    return {
        Form.BASE: base,
        Form.NAME: [capital(word) if traits.script in CASED else word for word in base],
        Form.COUNTED: inflected(traits.counted_suffix),
        Form.OBLIQUE: inflected(traits.oblique_suffix),
        Form.CLASSIFIER: [
            words[concepts_of(Kind.CLASSIFIER, group=concept.group)[0]] if concept.kind in NOUNS else ""
            for concept in CONCEPTS
        ],
        Form.FUSED: [
            words[BY_GLOSS[f"{concept.gloss}+the"]] if concept.gloss in FUSING else "" for concept in CONCEPTS
        ],
        Form.COMMA: [traits.comma] * len(words),
        Form.STOP: [traits.full_stop] * len(words),
    }


def _share(rng: Random, kinds: frozenset[Kind], share: float) -> list[int]:
    """Return a random share of the concepts of some kinds."""
    concepts = [i for i, concept in enumerate(CONCEPTS) if concept.kind in kinds]
    return rng.sample(concepts, round(share * len(concepts)))


def _each_word(lists: Lists, change: Callable[[str], str]) -> Lists:
    return {form: [change(word) for word in words] for form, words in lists.items()}


def _pad(word: str) -> str:
    return f" {word} " if word.isascii() and word.isalpha() else word
