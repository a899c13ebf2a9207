"""One embedded language: its words, and the sentences for meanings, as running text or with tree and entities."""

from random import Random
from typing import NamedTuple

from xling.core.seeds import python_rng
from xling.synthetic.grammar import Form, Node, Order, layout
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

WITH_SYNONYMS = frozenset({Kind.NOUN, Kind.ADJECTIVE, Kind.VERB, Kind.ADVERB})
CASED = frozenset({"latin", "cyrillic", "greek"})
ADJUNCTS = {(Phrase.OBLIQUE, Slot.PREPOSITION), (Phrase.OBLIQUE, Slot.FUSING)}
ADJUNCTS |= {(Phrase.CLAUSE, Slot.ADVERB), (Phrase.CLAUSE, Slot.SOMEHOW)}
WORD = {Form.FUSED: Form.BASE}
LEMMA = WORD | {Form.COUNTED: Form.BASE, Form.OBLIQUE: Form.BASE}


class Sentence(NamedTuple):
    """One sentence of one language: the words with annotations, as in a treebank, and the running text."""

    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    heads: tuple[int, ...]  # 1-based, 0 is the root
    deprels: tuple[str, ...]
    ner: tuple[str, ...]  # BIO tags of PER, LOC and ORG
    merged: dict[int, str]  # index of a word that is merged with the next word -> printed form: `du` for `de le`
    text: str  # as printed: punctuation attached, and no spaces if the script has none


class Language:
    """One embedded language; `synonyms` are its `words`, but with synonyms for concepts that have one."""

    def __init__(self, code: str, traits: Differences, world: World) -> None:
        self.traits, self.world, self.code = traits, world, code
        self.words, self.synonyms = build_lexicon(code, traits, world)
        self._first = capital if traits.script in CASED else str  # applied to the first word of a sentence
        self._layouts: dict[tuple[tuple[int, ...], Order], list[Node]] = {}

    def text(self, meaning: Meaning, synonyms: bool = False) -> str:
        """Return a meaning as running text; `synonyms` uses the synonyms of concepts that have one."""
        return self._text(self._layout(meaning), meaning, self.synonyms if synonyms else self.words)

    def realise(self, meaning: Meaning) -> Sentence:
        """Return a meaning as a sentence with its tree and entities."""
        nodes, concepts = self._layout(meaning), meaning.concepts
        numbers = {id(node): i for i, node in enumerate(nodes, start=1)} | {id(None): 0}
        forms = [self.words[WORD.get(node.form, node.form)][concepts[node.concept]] for node in nodes]
        fused = {i: self.words[Form.FUSED][concepts[x.concept]] for i, x in enumerate(nodes) if x.form == Form.FUSED}
        return Sentence(
            forms=(self._first(forms[0]), *forms[1:]),
            lemmas=tuple([self.words[LEMMA.get(node.form, node.form)][concepts[node.concept]] for node in nodes]),
            upos=tuple([node.upos for node in nodes]),
            heads=tuple([numbers[id(node.head)] for node in nodes]),
            deprels=tuple([node.deprel for node in nodes]),
            ner=tuple([node.ner for node in nodes]),
            merged={i: word if i else self._first(word) for i, word in fused.items()},
            text=self._text(nodes, meaning, self.words),
        )

    def paraphrase(self, meaning: Meaning, rng: Random) -> str:
        """Return a paraphrase of a meaning, with synonyms, another first constituent or swapped clauses."""
        if parts_of(meaning).get(LINK) == AND and rng.random() < 0.5:
            meaning = swap_clauses(meaning)
        order = self._order(meaning)
        parts = {(phrase, slot) for clause, phrase, slot in map(place_of, meaning.skeleton) if clause == 0}
        if ADJUNCTS & parts and rng.random() < 0.7:
            order = Order.PLAIN if order == Order.ADJUNCT_FIRST else Order.ADJUNCT_FIRST
        return self._text(self._layout(meaning, order), meaning, self.synonyms)

    def word_list(self) -> list[tuple[str, int]]:
        """Return every word form with its frequency for a segmenter's dictionary, most frequent first."""
        counts: dict[str, int] = {}
        for lists in (self.words, self.synonyms):
            for i, concept in enumerate(CONCEPTS):
                for form in used_forms(concept, self.traits):
                    frequency = (10_000 if concept.topic < 0 else 1_000) // (concept.rank + 1)
                    counts[lists[form][i]] = max(counts.get(lists[form][i], 0), frequency)
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    def _text(self, nodes: list[Node], meaning: Meaning, lists: Lists) -> str:
        concepts, words, before = meaning.concepts, [], Form.BASE
        for node in nodes:
            if before != Form.FUSED:
                words.append(lists[node.form][concepts[node.concept]])
            before = node.form
        text = " ".join(words) if self.traits.spaces else "".join(map(_pad, words))
        if " " in text:
            for mark in (self.traits.comma, self.traits.full_stop):
                text = text.replace(f" {mark}", mark)
        return self._first(text if self.traits.spaces else " ".join(text.split()))

    def _order(self, meaning: Meaning) -> Order:
        """Return the order of a sentence, which depends only on the meaning, so a meaning always has the same order."""
        traits = self.traits
        die = sum(meaning.concepts) * 7919 % 1009 / 1009
        if die < traits.front_object:
            return Order.OBJECT_FIRST
        return Order.ADJUNCT_FIRST if die < traits.front_object + traits.front_adjunct else Order.PLAIN

    def _layout(self, meaning: Meaning, order: Order | None = None) -> list[Node]:
        """Return the layout of a meaning; layouts are cached by skeleton and order."""
        key = (meaning.skeleton, self._order(meaning) if order is None else order)
        if key not in self._layouts:
            self._layouts[key] = layout(key[0], self.traits, key[1])
        return self._layouts[key]


def build_lexicon(code: str, traits: Differences, world: World) -> tuple[Lists, Lists]:
    """Return the words of a language, and a copy with synonyms for the share of words that have one."""
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
    """Return a word for each concept: the international word for the shares in the traits, otherwise a new word."""
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
        """Return a word, capitalised if it has a capital within a sentence."""
        wants = kind in NAMES or (traits.capital_nouns and kind in NOUNS)
        return capital(word) if wants and (traits.script in CASED or word.isascii()) else word

    def inflected(suffix: str) -> list[str]:
        """Return the words with a suffix; words in a foreign script take no suffix."""
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
    """Return a random share of the concepts of the given kinds."""
    concepts = [i for i, concept in enumerate(CONCEPTS) if concept.kind in kinds]
    return rng.sample(concepts, round(share * len(concepts)))


def _pad(word: str) -> str:
    """Put spaces around a Latin word in a script without spaces."""
    return f" {word} " if word.isascii() and word.isalpha() else word
