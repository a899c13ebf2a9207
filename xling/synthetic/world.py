"""The world that all embedded languages share: its concepts, an international word for each, and a maker of words.

The world is large enough to show the effects of the study, and small enough for runs of minutes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from random import Random

from xling.core.errors import XlingError
from xling.core.seeds import python_rng
from xling.synthetic.traits import Script

TOPICS = 4
NOUNS_PER_CLASS = 6  # a topic has two classes of nouns: beings, which can act, and things
ADJECTIVES_PER_CLASS = 3
ADVERBS_PER_TOPIC = 2
NAMES_PER_TOPIC = 6
ORGANISATION_HEADS = 4

SYLLABLES: dict[str, tuple[str, str, str]] = {  # onsets, nuclei, codas of the scripts with letters
    "latin": ("b d f g h k l m n p r s t v z br dr gr kl pl pr st tr", "a e i o u", "l m n r s t"),
    "cyrillic": ("б в г д ж з к л м н п р с т ф х ч ш бр гр др кр пл ст тр", "а е и о у ы я ю", "л м н р с т к"),
    "greek": ("β γ δ ζ θ κ λ μ ν ξ π ρ τ φ χ βρ γρ δρ κλ πλ πρ τρ", "α ε η ι ο υ ω", "λ ν ρ τ"),
}
# Characters that are the same in Simplified and Traditional script. A word is one character of ALONE, or one of FIRST
# and one of SECOND. The three sets are disjoint, so a text without spaces can be split into words in only one way.
ALONE = "人大上下左右中小白和去回出入行立同分合不先本元共公定"
FIRST = "山水火木土石天地日月心手口目耳足牛羊犬虎王田力女子金玉米竹言走食衣方文生年工市京江河海洋林森花草雪雨星光"
SECOND = "美善真高古今坐看知名字音色香味甜苦冷暖春夏秋冬早晚甲乙丙丁百千民家室房屋府寺州城池泉沙波浪清深法度布巾帽"
TRIES = 10_000


# The kinds of concepts; HEAD is the `Company` in the name of an organisation, FUSED a preposition with an article.
Kind = StrEnum(
    "Kind",
    "NOUN HYPERNYM ADJECTIVE VERB ADVERB PERSON SURNAME PLACE ORGANISATION HEAD DIGIT DETERMINER PREPOSITION PARTICLE "
    "GENERIC CLASSIFIER FUSED",
)


class Frame(StrEnum):
    """The types of subject and object that a verb takes; each topic has one verb for each frame."""

    MAKES = "person thing"
    MEETS = "person person"
    TRADES = "organisation thing"
    CHASES = "being being"


FRAMES = tuple(Frame)
NOUNS = frozenset({Kind.NOUN, Kind.HYPERNYM})
NAMES = frozenset({Kind.PERSON, Kind.SURNAME, Kind.PLACE, Kind.ORGANISATION})
CONTENT = NOUNS | {Kind.ADJECTIVE, Kind.VERB, Kind.ADVERB, Kind.HEAD}
SHORT = frozenset({Kind.DETERMINER, Kind.PREPOSITION, Kind.PARTICLE, Kind.CLASSIFIER, Kind.FUSED})
FUNCTION_WORDS = {
    Kind.DETERMINER: ("the", "a", "this", "that", "every"),
    Kind.PREPOSITION: ("of", "to", "in", "near"),
    Kind.PARTICLE: ("not", "and", "but", "who", "some"),
    Kind.GENERIC: ("certain", "someone", "somewhere", "somehow"),
}
FUSING = FUNCTION_WORDS[Kind.PREPOSITION][:2]  # fuse with the definite article in a language with contractions


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept, for which every language has a word; `group` is its noun class, its frame or its index in a list."""

    kind: Kind
    topic: int  # -1: none
    group: int
    rank: int  # 0: the most frequent of its kind in its topic
    gloss: str


def _concepts() -> Iterator[Concept]:
    for topic in range(TOPICS):
        for group in (2 * topic, 2 * topic + 1):
            for rank in range(NOUNS_PER_CLASS):
                yield Concept(Kind.NOUN, topic, group, rank, f"noun {group}.{rank}")
            yield Concept(Kind.HYPERNYM, topic, group, 0, f"kind {group}")
            for rank in range(ADJECTIVES_PER_CLASS):
                yield Concept(Kind.ADJECTIVE, topic, group, rank, f"adjective {group}.{rank}")
        for group, frame in enumerate(FRAMES):
            yield Concept(Kind.VERB, topic, group, 0, f"verb {topic} {frame}")
        for rank in range(ADVERBS_PER_TOPIC):
            yield Concept(Kind.ADVERB, topic, 0, rank, f"adverb {topic}.{rank}")
        for kind in (Kind.PERSON, Kind.SURNAME, Kind.PLACE, Kind.ORGANISATION):
            for rank in range(NAMES_PER_TOPIC):
                yield Concept(kind, topic, 0, rank, f"{kind} {topic}.{rank}")
    yield from (Concept(Kind.HEAD, -1, 0, i, f"head {i}") for i in range(ORGANISATION_HEADS))
    yield from (Concept(Kind.DIGIT, -1, 0, i, str(i + 1)) for i in range(9))
    yield from (Concept(Kind.CLASSIFIER, -1, i, i, f"classifier {i}") for i in range(2 * TOPICS))
    yield from (Concept(Kind.FUSED, -1, i, i, f"{word}+the") for i, word in enumerate(FUSING))
    for kind, words in FUNCTION_WORDS.items():
        yield from (Concept(kind, -1, 0, i, word) for i, word in enumerate(words))


CONCEPTS: tuple[Concept, ...] = tuple(_concepts())
BY_GLOSS = {concept.gloss: i for i, concept in enumerate(CONCEPTS)}


@cache
def concepts_of(kind: Kind, topic: int | None = None, group: int | None = None) -> tuple[int, ...]:
    """Return the ids of the concepts of a kind, most frequent first; `topic` and `group` restrict them."""
    own = ((c.rank, i) for i, c in enumerate(CONCEPTS) if c.kind == kind)
    wanted = ((rank, i) for rank, i in own if topic in (None, CONCEPTS[i].topic) and group in (None, CONCEPTS[i].group))
    return tuple([i for _, i in sorted(wanted)])


@cache
def hypernym(noun: int) -> int:
    """Return the hypernym of a noun, which covers all nouns of its class."""
    return concepts_of(Kind.HYPERNYM, group=CONCEPTS[noun].group)[0]


class WordMaker:
    """Make pronounceable words of one script that differ from each other and from the words in `taken`."""

    def __init__(self, script: Script, rng: Random, accents: str = "", taken: set[str] | None = None) -> None:
        self.script, self.rng, self.taken = script, rng, set() if taken is None else taken
        onsets, nuclei, codas = (part.split() for part in SYLLABLES.get(script, ("", "", "")))
        # A language uses only some onsets and codas of its script, so its words look different from other languages.
        self.onsets, self.codas = rng.sample(onsets, 2 * len(onsets) // 3), rng.sample(codas, len(codas) // 2)
        self.nuclei = nuclei + list(accents)

    def make(self, short: bool) -> str:
        """Return a new word: one syllable or character if `short`, otherwise two or three syllables (two in Han)."""
        choice = self.rng.choice

        def syllable(closed: bool) -> str:
            coda = choice(self.codas) if closed and self.rng.random() < 0.3 else ""
            return choice(self.onsets) + choice(self.nuclei) + coda

        def draw() -> str:
            if self.script == "han":
                return choice(ALONE) if short else choice(FIRST) + choice(SECOND)
            count = 1 if short else choice((2, 2, 3))
            # The last syllable of a longer word is open, which makes suffixes distinct from stems.
            return "".join(syllable(closed=short or i < count - 1) for i in range(count))

        return self._unused(draw)

    def respell(self, word: str) -> str:
        """Return a new word that differs from a Latin word in one vowel."""
        places = [i for i, letter in enumerate(word) if letter in "aeiou"]
        nuclei = [nucleus for nucleus in self.nuclei if nucleus not in word]

        def draw() -> str:
            place = self.rng.choice(places)
            return word[:place] + self.rng.choice(nuclei) + word[place + 1 :]

        return self._unused(draw)

    def _unused(self, draw: Callable[[], str]) -> str:
        for _ in range(TRIES):
            if (word := draw()) not in self.taken:
                self.taken.add(word)
                return word
        raise XlingError(f"the script {self.script!r} has no words left for an embedded language")


@dataclass(frozen=True, slots=True)
class World:
    """The international words (`roots`) of the concepts, from which a language takes its cognates."""

    seed: int
    roots: tuple[str, ...]


def build_world(seed: int) -> World:
    """Return the world of a seed; English uses the international words unchanged."""
    maker = WordMaker("latin", python_rng("world", seed))
    roots = (c.gloss if c.kind == Kind.DIGIT else maker.make(short=c.kind in SHORT) for c in CONCEPTS)
    return World(seed, tuple(roots))
