"""Words that can be pronounced: syllables of a script, or characters where the script has no letters."""

from random import Random

from xling.core.errors import XlingError
from xling.synthetic.traits import Script

SYLLABLES: dict[str, tuple[str, str, str]] = {  # onsets, nuclei, codas of the scripts with letters
    "latin": ("b d f g h k l m n p r s t v z br dr gr kl pl pr st tr", "a e i o u", "l m n r s t"),
    "cyrillic": ("б в г д ж з к л м н п р с т ф х ч ш бр гр др кр пл ст тр", "а е и о у ы я ю", "л м н р с т к"),
    "greek": ("β γ δ ζ θ κ λ μ ν ξ π ρ τ φ χ βρ γρ δρ κλ πλ πρ τρ", "α ε η ι ο υ ω", "λ ν ρ τ"),
}
# Characters that are the same in Simplified and Traditional script. The three sets are disjoint, so that a text without
# spaces can be cut into its words in one way only: a word is one of ALONE or one of FIRST and one of SECOND.
ALONE = "人大上下左右中小白和去回出入行立同分合不先本元共公定"
FIRST = "山水火木土石天地日月心手口目耳足牛羊犬虎王田力女子金玉米竹言走食衣方文生年工市京江河海洋林森花草雪雨星光"
SECOND = "美善真高古今坐看知名字音色香味甜苦冷暖春夏秋冬早晚甲乙丙丁百千民家室房屋府寺州城池泉沙波浪清深法度布巾帽"
LATIN_VOWELS = "aeiou"
TRIES = 10_000


class WordMaker:
    """Makes words of one script that differ from each other and from those already taken."""

    def __init__(self, script: Script, rng: Random, accents: str = "", taken: set[str] | None = None) -> None:
        self.script, self.rng, self.taken = script, rng, set() if taken is None else taken
        onsets, nuclei, codas = (part.split() for part in SYLLABLES.get(script, ("", "", "")))
        # A language uses only some of the syllables of its script, which gives it a look of its own.
        self.onsets, self.codas = rng.sample(onsets, 2 * len(onsets) // 3), rng.sample(codas, len(codas) // 2)
        self.nuclei = nuclei + list(accents)

    def make(self, short: bool) -> str:
        """Return a new word: one syllable or character if short, else two or three."""
        for _ in range(TRIES):
            word = self._characters(short) if self.script == "han" else self._syllables(short)
            if word not in self.taken:
                self.taken.add(word)
                return word
        raise XlingError(f"the script {self.script!r} has no words left for an embedded language")

    def respell(self, word: str) -> str:
        """Return a new word that differs from a Latin one in one vowel."""
        places = [i for i, letter in enumerate(word) if letter in LATIN_VOWELS]
        nuclei = [nucleus for nucleus in self.nuclei if nucleus not in word]
        for _ in range(TRIES):
            place = self.rng.choice(places)
            alike = word[:place] + self.rng.choice(nuclei) + word[place + 1 :]
            if alike not in self.taken:
                self.taken.add(alike)
                return alike
        raise XlingError(f"no word like {word!r} is left for an embedded language")

    def _syllables(self, short: bool) -> str:
        count = 1 if short else self.rng.choice((2, 2, 3))
        # The last syllable of a longer word stays open, so that suffixes can be told apart from stems.
        return "".join(self._syllable(closed=short or i < count - 1) for i in range(count))

    def _syllable(self, closed: bool) -> str:
        coda = self.rng.choice(self.codas) if closed and self.rng.random() < 0.3 else ""
        return self.rng.choice(self.onsets) + self.rng.choice(self.nuclei) + coda

    def _characters(self, short: bool) -> str:
        return self.rng.choice(ALONE) if short else self.rng.choice(FIRST) + self.rng.choice(SECOND)
