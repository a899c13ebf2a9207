"""Word translation for all languages of a study, evaluated as in MUSE: Figures 4a and 4b (section 5.1.1).

    python -m xling.align.translate_words --plan plan.json --out words.json

The plan names the source language, the seed of the models and, for each target language, the folders of hidden states
(made by xling.align.represent_encoder), MUSE dictionaries, fastText vectors or null, and the tokenisers' options:
{"source": "en", "seed": 1, "config": "…", "languages": {"fr": {"states": {"en": "states/en.mono.s1",
"fr": "states/fr.mono.s1"}, "train": "…", "test": "…", "vectors": {"en": "…", "fr": "…"}, "tokenisers": {"en": {…}}}}}

The vectors of each language are normalised together, over its whole vocabulary. The map is fitted on the training
pairs, and translations are retrieved by CSLS among all target words. The spelling of words in dictionaries and fastText
is normalised as in the text, then lower-cased; if several words differ only in case, the vector of the first is used.
Pairs with a word that has no vector are dropped, and their number is reported. Each source word is scored once: it is
correct if the retrieved word is any of its translations. If there are fastText vectors, the vocabulary of each language
is restricted to words that have both a fastText vector and an encoder vector, so that all systems are tested on the
same words with the same candidates.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xling.align.mapping import Matrix, apply_map, normalise, procrustes
from xling.align.plan import Compared, ComparisonPlan, plan_parser
from xling.align.search import csls_search
from xling.align.states import TRAINED, UNTRAINED
from xling.core.errors import InputError, run
from xling.core.io import read_json, write_json
from xling.core.log import log_to_stderr
from xling.core.records import read_record, record, refuse
from xling.core.stats import Hits, summarise
from xling.data.dictionary import WordPair, read_muse
from xling.data.fasttext import read_vectors
from xling.model.device import local_device, side_by_side
from xling.tokenization.tokeniser import make_tokeniser

# The vectors behind each figure: rows of the embedding matrix, and words in context.
FIGURES = {"figure4a": "rows", "figure4b": "words"}
LIMIT = 200_000  # number of fastText vectors that are read (section 5.1.1 of the paper)
Rows = dict[str, int]  # row in the file of each kept word, in lower case; words are numbered in this order
Result = dict[str, Any]


@record
class Language(Compared):
    """Inputs for one target language: states, dictionaries, and fastText vectors if there are any."""

    train: Path
    test: Path
    vectors: dict[str, Path] | None
    tokenisers: dict[str, dict[str, Any]]


@record
class Plan(ComparisonPlan):
    """The inputs for all target languages."""

    languages: dict[str, Language]

    def __post_init__(self) -> None:
        super().__post_init__()
        for code, own in self.languages.items():
            if own.vectors is not None and not {self.source, code} <= set(own.vectors):
                refuse([f"languages.{code}.vectors: expected files of {self.source} and {code}, or null"])


class KnownPairs(NamedTuple):
    """The distinct dictionary pairs in which both words have vectors, as word indices, and the counts to report."""

    pairs: tuple[tuple[int, int], ...]
    counts: dict[str, int]

    def by_source(self) -> dict[int, set[int]]:
        """Return the known translations of each source word."""
        found: dict[int, set[int]] = {}
        for source, target in self.pairs:
            found.setdefault(source, set()).add(target)
        return found


def known_pairs(path: Path, pairs: Iterable[WordPair], source: Iterable[str], target: Iterable[str]) -> KnownPairs:
    """Return the pairs whose words both have vectors; raise InputError, naming the dictionary's path, if none do."""
    folded = dict.fromkeys((pair.source.lower(), pair.target.lower()) for pair in pairs)
    left, right = ({word: index for index, word in enumerate(side)} for side in (source, target))
    sources, targets = sum(x not in left for x, _ in folded), sum(y not in right for _, y in folded)
    found = tuple(dict.fromkeys((left[x], right[y]) for x, y in folded if x in left and y in right))
    if not found:
        counts = f"no vector of the source word in {sources}, of the target word in {targets}"
        problem = f"in none of its {len(folded)} pairs do both words have vectors ({counts})"
        raise InputError(path, problem, fix="a dictionary of words in the text, or none for this language (muse: null)")
    kept = {"pairs": len(folded), "pairs_kept": len(found), "source_words_kept": len({x for x, _ in found})}
    return KnownPairs(found, kept | {"unknown_source": sources, "unknown_target": targets})


def fold_case(words: Sequence[str], allowed: Iterable[str] | None = None) -> Rows:
    """Map each word, in lower case, to the first row in which it occurs; `allowed` restricts the words."""
    wanted = None if allowed is None else {word.lower() for word in allowed}
    rows: Rows = {}
    for row, word in enumerate(words):
        if wanted is None or word.lower() in wanted:
            rows.setdefault(word.lower(), row)
    return rows


def translate(source: Matrix, target: Matrix, train: KnownPairs, test: KnownPairs, device: str = "cpu") -> Hits:
    """Return for each test word whether the nearest target word (by CSLS, after mapping) is one of its translations."""
    x, y = side_by_side(lambda side: normalise(side)[0], (source, target))
    left, right = np.array(train.pairs).T
    gold = test.by_source()
    mapped = apply_map(procrustes(x[left], y[right]), x)
    found = csls_search(mapped, y, 1, np.array(list(gold)), device=device).indices[:, 0].tolist()
    return np.array([first in answers for first, answers in zip(found, gold.values(), strict=True)])


def chance(gold: Iterable[set[int]], targets: int) -> float:
    """Return the expected precision at 1 of a random target word."""
    return float(np.mean([1 - (targets - len(answers)) / targets for answers in gold]))


def speller(options: dict[str, Any] | None) -> Callable[[str], str]:
    """Return a function that normalises the spelling of a word as a tokeniser with these options would, unsegmented."""
    if not options:
        return str
    return make_tokeniser(options | {"segmenter": "none", "dictionary": None, "stanford_home": None}).word


class Material:
    """The evaluation data of a language pair; dictionaries are read up front, to find a bad file early."""

    def __init__(self, source: str, target: str, plan: Language) -> None:
        self.codes, self.plan = (source, target), plan
        self.spell = left, right = [speller(plan.tokenisers.get(code)) for code in self.codes]
        self.dictionaries = [
            (path, [WordPair(left(pair.source), right(pair.target)) for pair in read_muse(path)])
            for path in (plan.train, plan.test)
        ]
        self.vectors = [plan.vectors[code] for code in self.codes] if plan.vectors else []
        for file in self.vectors:
            file.open("rb").close()

    def known(self, spaces: Sequence[Rows]) -> list[KnownPairs]:
        """Return the training and the test pairs whose words are in both vocabularies."""
        return [known_pairs(path, pairs, *spaces) for path, pairs in self.dictionaries]


def evaluate(material: Material, device: str) -> Iterator[tuple[str, list[Result], Result]]:
    """Yield for each figure its name, the records of one language, and the numbers of words and pairs behind them.

    The fastText tables, if there are any, take half a gigabyte per language pair.
    """
    read = zip((read_vectors(path, LIMIT) for path in material.vectors), material.spell, strict=False)
    tables = [table._replace(words=tuple(map(spell, table.words))) for table, spell in read]
    for figure, name in FIGURES.items():
        kinds = {kind: material.plan.sides(kind, name, material.codes) for kind in (TRAINED, UNTRAINED)}
        words = [side.items or [] for side in kinds[TRAINED]]
        spaces = [fold_case(own, other) for own, other in zip(words, [t.words for t in tables] or words, strict=True)]
        train, test = known = material.known(spaces)
        series = []
        for kind, sides in kinds.items():
            for layer in range(sides[0].layers):
                hits = _hits([side.read(layer) for side in sides], spaces, known, device)
                series.append(({"vectors": kind, "layer": layer if figure == "figure4b" else None}, hits))
        if tables:
            places = [fold_case(table.words, own) for table, own in zip(tables, words, strict=True)]
            hits = _hits([table.vectors for table in tables], places, material.known(places), device)
            series.append(({"vectors": "fasttext", "layer": None}, hits))
        guess = chance(test.by_source().values(), len(spaces[1]))
        about = {"figure": figure, "language": material.codes[1], "chance": guess, "pairs": len(test.pairs)}
        records = summarise([(about | own, hits) for own, hits in series], figure, *material.codes)
        sizes = {"source_words": len(spaces[0]), "target_words": len(spaces[1])}
        yield figure, records, sizes | {"train": train.counts, "test": test.counts}


def _hits(sides: Sequence[Matrix], spaces: Sequence[Rows], known: Sequence[KnownPairs], device: str) -> Hits:
    x, y = (side[list(space.values())].astype(np.float32) for side, space in zip(sides, spaces, strict=True))
    return translate(x, y, known[0], known[1], device)


def main() -> None:
    """Evaluate both figures in all languages and write the result."""
    args = plan_parser(__doc__).parse_args()
    log, device = log_to_stderr(__name__), local_device(args.device).type
    plan = read_record(Plan, read_json(args.plan), args.plan)
    records: list[Result] = []
    counts: dict[str, Result] = {figure: {} for figure in FIGURES}
    for material in [Material(plan.source, target, own) for target, own in plan.languages.items()]:
        for figure, found, sizes in evaluate(material, device):
            counts[figure][material.codes[1]] = sizes
            records += found
            best: dict[str, float] = {}
            for one in found:
                best[one["vectors"]] = max(one["p1"], best.get(one["vectors"], 0.0))
            shown = ", ".join(f"{kind} {score:.3f}" for kind, score in best.items())
            asked = sizes["test"]["source_words_kept"]
            log.info("%s %s, P@1 of the best layer on %d source words: %s", figure, material.codes[1], asked, shown)
    write_json(args.out, {"records": records, "counts": counts, "config": plan.config})


if __name__ == "__main__":
    run(main)
