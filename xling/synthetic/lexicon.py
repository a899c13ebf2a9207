"""The words of one language: a form of each kind for every concept."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from xling.core.seeds import python_rng
from xling.synthetic.grammar import Form
from xling.synthetic.traits import Traits
from xling.synthetic.words import WordMaker
from xling.synthetic.world import BY_GLOSS, CONCEPTS, CONTENT, FUSING, NAMES, SHORT, Concept, Kind, World, concepts_of

NOUNS = frozenset({Kind.NOUN, Kind.HYPERNYM})
WITH_SYNONYMS = frozenset({Kind.NOUN, Kind.ADJECTIVE, Kind.VERB, Kind.ADVERB})
CASED = frozenset({"latin", "cyrillic", "greek"})


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Word lists by form, each indexed by concept; `second` holds synonyms where there are some."""

    first: dict[Form, list[str]]
    second: dict[Form, list[str]]


def build_lexicon(traits: Traits, world: World) -> Lexicon:
    """Return the words of a language in a world; its seed is the world's with the language's code."""
    rng = python_rng("lexicon", world.seed, traits.code)
    maker = WordMaker(traits.script, rng, traits.accents, taken=set(world.roots))
    words = _first_words(traits, world, rng, maker)
    second = list(words)
    for concept in _share(rng, _ids(WITH_SYNONYMS), traits.synonyms):
        second[concept] = maker.make(short=False)
    return Lexicon(_forms(words, traits), _forms(second, traits))


def capital(word: str) -> str:
    """Return a word with its first letter in upper case."""
    return word[:1].upper() + word[1:]


def inflected(word: str, suffix: str, traits: Traits) -> str:
    """Return a word with a suffix; words in a foreign script take none."""
    foreign = traits.script != "latin" and word.isascii()
    return word if foreign else word + suffix


def used_forms(concept: Concept, traits: Traits) -> list[Form]:
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


def _first_words(traits: Traits, world: World, rng: Random, maker: WordMaker) -> list[str]:
    """Return a word for each concept: the international one for the shares the traits name, else one of its own."""
    content = _share(rng, _ids(CONTENT), traits.cognates + traits.lookalikes)
    same = set(content[: round(traits.cognates * len(_ids(CONTENT)))])
    same |= set(_share(rng, _ids(NAMES), traits.names)) | set(concepts_of(Kind.DIGIT))
    same |= set(_share(rng, _ids(frozenset(Kind) - CONTENT - NAMES - {Kind.DIGIT}), traits.function_words))
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


def _forms(words: list[str], traits: Traits) -> dict[Form, list[str]]:
    base = [_printed(word, concept.kind, traits) for word, concept in zip(words, CONCEPTS, strict=True)]
    everywhere = len(words)
    return {
        Form.BASE: base,
        Form.NAME: [capital(word) if traits.script in CASED else word for word in base],
        Form.COUNTED: [inflected(word, traits.counted_suffix, traits) for word in base],
        Form.OBLIQUE: [inflected(word, traits.oblique_suffix, traits) for word in base],
        Form.CLASSIFIER: [_classifier(words, concept) for concept in range(everywhere)],
        Form.FUSED: [_fused(words, concept) for concept in range(everywhere)],
        Form.COMMA: [traits.comma] * everywhere,
        Form.STOP: [traits.full_stop] * everywhere,
    }


def _printed(word: str, kind: Kind, traits: Traits) -> str:
    """Return a word with the capital that it has within a sentence."""
    wants = kind in NAMES or (traits.capital_nouns and kind in NOUNS)
    return capital(word) if wants and (traits.script in CASED or word.isascii()) else word


def _classifier(words: Sequence[str], concept: int) -> str:
    known = CONCEPTS[concept]
    return words[concepts_of(Kind.CLASSIFIER, group=known.group)[0]] if known.kind in NOUNS else ""


def _fused(words: Sequence[str], concept: int) -> str:
    gloss = CONCEPTS[concept].gloss
    return words[BY_GLOSS[f"{gloss}+the"]] if gloss in FUSING else ""


def _ids(kinds: frozenset[Kind]) -> list[int]:
    return [i for i, concept in enumerate(CONCEPTS) if concept.kind in kinds]


def _share(rng: Random, concepts: list[int], share: float) -> list[int]:
    return rng.sample(concepts, round(share * len(concepts)))
