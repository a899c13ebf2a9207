"""A language at work: it says meanings, as running text or with tree and entities."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from xling.synthetic.grammar import Form, Order, Template, layout
from xling.synthetic.lexicon import CASED, Lexicon, build_lexicon, capital, used_forms
from xling.synthetic.meaning import AND, CLAUSE_STEP, LINK, Phrase, Slot, parts_of, place_of, swap_clauses
from xling.synthetic.traits import Traits
from xling.synthetic.types import Meaning, Multiword, Sentence
from xling.synthetic.world import CONCEPTS, World

Cells = tuple[tuple[list[str], int], ...]  # word list and place in the meaning's concepts
ADJUNCTS = frozenset({(Phrase.OBLIQUE, Slot.PREPOSITION), (Phrase.OBLIQUE, Slot.FUSING)}) | {
    (Phrase.CLAUSE, Slot.ADVERB),
    (Phrase.CLAUSE, Slot.SOMEHOW),
}
LEMMA = {Form.COUNTED: Form.BASE, Form.OBLIQUE: Form.BASE}


@dataclass(frozen=True, slots=True)
class Plan:
    """A template whose forms have been looked up: only the concepts are missing."""

    template: Template
    words: Cells
    lemmas: Cells
    printed: Cells
    pattern: str
    fused: tuple[tuple[int, list[str], int], ...]


class Language:
    """One embedded language in one world."""

    def __init__(self, traits: Traits, world: World) -> None:
        self.traits, self.world, self.code = traits, world, traits.code
        self.lexicon: Lexicon = build_lexicon(traits, world)
        self._capital = _each_word(self.lexicon, capital) if traits.script in CASED else self.lexicon
        self._printed = self.lexicon if traits.spaces else _each_word(self.lexicon, _padded)
        self._plans: list[dict[tuple[int, ...], Plan]] = [{} for _ in range(2 * len(Order))]
        self._templates: list[dict[tuple[int, ...], Template]] = [{} for _ in Order]
        self._fronts = bool(traits.front_adjunct or traits.front_object)

    def text(self, meaning: Meaning, synonyms: bool = False) -> str:
        """Return a meaning as running text, with second words where there are some if asked."""
        order = self._order(meaning) if self._fronts else Order.PLAIN
        return self._text(self._plan(meaning.skeleton, order, synonyms), meaning)

    def realise(self, meaning: Meaning) -> Sentence:
        """Return a meaning as a sentence with its tree and entities."""
        return self._sentence(meaning, meaning, self._order(meaning), synonyms=False)

    def paraphrase(self, meaning: Meaning, rng: Random) -> Sentence:
        """Return a meaning said in another way: other words, another beginning, clauses the other way round."""
        said = meaning
        if parts_of(meaning).get(LINK) == AND and rng.random() < 0.5:
            said = swap_clauses(meaning)
        order = self._order(said)
        if _has_adjunct(said) and rng.random() < 0.7:
            order = Order.PLAIN if order == Order.ADJUNCT_FIRST else Order.ADJUNCT_FIRST
        return self._sentence(said, meaning, order, synonyms=True)

    def _sentence(self, said: Meaning, meaning: Meaning, order: Order, synonyms: bool) -> Sentence:
        plan = self._plan(said.skeleton, order, synonyms)
        concepts, template = said.concepts, plan.template
        return Sentence(
            forms=tuple([words[concepts[place]] for words, place in plan.words]),
            lemmas=tuple([words[concepts[place]] for words, place in plan.lemmas]),
            upos=template.upos,
            heads=template.heads,
            deprels=template.deprels,
            ner=template.ner,
            multiwords=tuple([Multiword(i, i + 1, words[concepts[place]]) for i, words, place in plan.fused]),
            text=self._text(plan, said),
            meaning=meaning,
        )

    def _text(self, plan: Plan, meaning: Meaning) -> str:
        concepts = meaning.concepts
        text = plan.pattern % tuple([words[concepts[place]] for words, place in plan.printed])
        return text if self.traits.spaces or " " not in text else self._tidy(text)

    def _tidy(self, text: str) -> str:
        """Return text without spaces save those that keep two Latin words apart from others."""
        for mark in (self.traits.comma, self.traits.full_stop):
            text = text.replace(f" {mark}", mark)
        return " ".join(text.split())

    def _order(self, meaning: Meaning) -> Order:
        """Return what a sentence begins with; the meaning itself is the die, so that it is always said alike."""
        traits = self.traits
        die = sum(meaning.concepts) * 7919 % 1009 / 1009
        if die < traits.front_object:
            return Order.OBJECT_FIRST
        if die < traits.front_object + traits.front_adjunct:
            return Order.ADJUNCT_FIRST
        return Order.PLAIN

    def _plan(self, skeleton: tuple[int, ...], order: Order, synonyms: bool) -> Plan:
        plans = self._plans[2 * order + synonyms]
        plan = plans.get(skeleton)
        if plan is None:
            plan = plans[skeleton] = self._make_plan(skeleton, order, synonyms)
        return plan

    def _template(self, skeleton: tuple[int, ...], order: Order) -> Template:
        templates = self._templates[order]
        if skeleton not in templates:
            templates[skeleton] = layout(skeleton, self.traits, order)
        return templates[skeleton]

    def _make_plan(self, skeleton: tuple[int, ...], order: Order, synonyms: bool) -> Plan:
        template = self._template(skeleton, order)
        words = self._cells(self.lexicon, self._capital, template.words, synonyms)
        lists = _lists(self.lexicon, synonyms)
        lemmas = tuple((lists[LEMMA.get(form, form)], place) for form, place in template.words)
        fused = tuple((i, self._fused(i, synonyms), template.words[i][1]) for i in template.fused)
        printed = self._cells(self._printed, self._capital, template.words, synonyms)
        shown = [i for i in range(len(printed)) if i - 1 not in template.fused]
        joined = {i: (forms, place) for i, forms, place in fused}
        cells = tuple(joined.get(i, printed[i]) for i in shown)
        return Plan(template, words, lemmas, cells, self._pattern(template, shown), fused)

    def _cells(self, rest: Lexicon, start: Lexicon, words: tuple[tuple[Form, int], ...], synonyms: bool) -> Cells:
        """Return where each word is looked up: the first one has a capital where the script knows them."""
        start = start if self.traits.script in CASED else rest
        tables = [start] + [rest] * (len(words) - 1)
        return tuple((_lists(table, synonyms)[form], place) for table, (form, place) in zip(tables, words, strict=True))

    def _fused(self, index: int, synonyms: bool) -> list[str]:
        return _lists(self._capital if index == 0 else self.lexicon, synonyms)[Form.FUSED]

    def _pattern(self, template: Template, shown: list[int]) -> str:
        gap = " " if self.traits.spaces else ""
        marks = [template.words[i][0] in (Form.COMMA, Form.STOP) for i in shown]
        return "".join(("" if mark or not i else gap) + "%s" for i, mark in enumerate(marks))


def build_language(traits: Traits, world: World) -> Language:
    """Return the language that the traits describe, in a world."""
    return Language(traits, world)


def word_list(language: Language) -> list[tuple[str, int]]:
    """Return every form with a frequency, as a segmenter's dictionary wants them, frequent ones first."""
    counts: dict[str, int] = {}
    for lists in (language.lexicon.first, language.lexicon.second):
        for i, concept in enumerate(CONCEPTS):
            for form in used_forms(concept, language.traits):
                frequency = (10_000 if concept.topic < 0 else 1_000) // (concept.rank + 1)
                counts[lists[form][i]] = max(counts.get(lists[form][i], 0), frequency)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _has_adjunct(meaning: Meaning) -> bool:
    return any(place_of(number)[1:] in ADJUNCTS for number in meaning.skeleton if number < CLAUSE_STEP)


def _lists(lexicon: Lexicon, synonyms: bool) -> dict[Form, list[str]]:
    return lexicon.second if synonyms else lexicon.first


def _padded(word: str) -> str:
    return f" {word} " if word.isascii() and word.isalpha() else word


def _each_word(lexicon: Lexicon, change: Callable[[str], str]) -> Lexicon:
    first, second = (
        {form: [change(word) for word in words] for form, words in lists.items()}
        for lists in (lexicon.first, lexicon.second)
    )
    return Lexicon(first, second)
