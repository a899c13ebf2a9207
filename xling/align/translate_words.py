"""Word translation for all languages of a study: Figures 4a and 4b (section 5.1.1).

    python -m xling.align.translate_words --plan plan.json --out words.json

The plan names the source language, and for each other one the folders of states that belong together (made by
xling.align.represent_encoder), MUSE dictionaries, fastText vectors or null, and how words are written:
{"source": "en", "config": "…", "languages": {"fr": {"seeds": [{"en": "states/en.mono.s1", "fr": "states/fr.mono.s1"}],
"train": "…", "test": "…", "vectors": {"en": "…", "fr": "…"}, "tokenisers": {"en": {…}, "fr": {…}}}}}

Words of dictionaries and of fastText are written as the tokeniser writes the text. Where there are fastText vectors,
only words that both they and the encoders know are kept: all are asked the same words among the same candidates.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xling.align.intervals import Hits, summarise
from xling.align.normalise import Matrix
from xling.align.plan import plan_parser, read_language_plan
from xling.align.states import TRAINED, UNTRAINED, States, seed_states
from xling.align.words import LIMIT, KnownPairs, Vocabulary, chance, fold_case, known_pairs, translate
from xling.core.errors import InputError, run
from xling.core.io import write_json
from xling.core.log import log_to_stderr
from xling.data.fasttext import Vectors, read_vectors
from xling.data.muse import WordPair, read_muse
from xling.model.device import local_device
from xling.tokenization.tokeniser import make_tokeniser

FIGURES = {"figure4a": "rows", "figure4b": "words"}  # which states each is made from
Record = dict[str, Any]
Series = tuple[Record, list[Hits]]  # what was asked, and which test words were right, seed by seed


@dataclass(frozen=True)
class Material:
    """What a pair of languages is evaluated with; fastText's vectors may be missing."""

    codes: tuple[str, str]
    seeds: Sequence[Mapping[str, str]]
    files: tuple[Path, Path]  # training and test dictionary
    pairs: tuple[list[WordPair], ...]
    vectors: tuple[Path, ...]
    spell: tuple[Callable[[str], str], ...]

    @cached_property
    def tables(self) -> tuple[Vectors, ...]:
        """Return fastText's tables, read when they are first asked for: those of one pair are half a gigabyte."""
        tables = (read_vectors(path, LIMIT) for path in self.vectors)
        spelled = zip(tables, self.spell, strict=False)
        return tuple(table._replace(words=tuple(map(own, table.words))) for table, own in spelled)

    def known(self, spaces: Sequence[Vocabulary]) -> list[KnownPairs]:
        """Return the training and the test pairs whose words are in both vocabularies."""
        return [known_pairs(path, pairs, *spaces) for path, pairs in zip(self.files, self.pairs, strict=True)]

    def states(self, kind: str, figure: str) -> list[list[States]]:
        """Return the states of both languages, seed by seed."""
        return list(seed_states(self.seeds, kind, FIGURES[figure], self.codes))


def read_materials(path: Path) -> tuple[list[Material], str]:
    """Read every pair's dictionaries, note where its fastText vectors are, and return them with the plan's `config`."""
    whole, materials = read_language_plan(path, "train", "test", "vectors", "tokenisers"), []
    for target, plan in whole["languages"].value.items():
        codes, own = (whole["source"].value, target), whole["languages"][target]
        tokenisers = own["tokenisers"].object()
        tables = own["vectors"].object(*codes) if plan["vectors"] else {}
        spell = tuple(speller(tokenisers.get(code)) for code in codes)
        files = Path(plan["train"]), Path(plan["test"])
        pairs = tuple([WordPair(spell[0](p.source), spell[1](p.target)) for p in read_muse(file)] for file in files)
        vectors = tuple(Path(tables[code]) for code in codes if tables)
        for file in vectors:
            file.open("rb").close()
        materials.append(Material(codes, plan["seeds"], files, pairs, vectors, spell))
    return materials, whole["config"].value


def speller(options: Mapping[str, Any] | None) -> Callable[[str], str]:
    """Return how a word of a list is written in the text; what splits running text is not loaded."""
    if not options:
        return str
    return _word(json.dumps({**options, "segmenter": "none", "dictionary": None, "stanford_home": None}))


@cache
def _word(options: str) -> Callable[[str], str]:
    """Return the tokeniser of these options, made once: every language comes with the source language."""
    return make_tokeniser(json.loads(options)).word


def evaluate(material: Material, figure: str, device: str) -> tuple[list[Record], Record]:
    """Return the records of a figure in one language, and how many words and pairs they rest on."""
    words = [_items(side) for side in material.states(TRAINED, figure)[0]]
    allowed = [table.words for table in material.tables] or words
    spaces = [fold_case(own, others) for own, others in zip(words, allowed, strict=True)]
    train, test = material.known(spaces)
    guess = chance(test.by_source().values(), len(spaces[1].rows))
    about = {"figure": figure, "language": material.codes[1], "chance": guess, "pairs": len(test.pairs)}
    series = [*_encoders(material, figure, spaces, device), *_fasttext(material, words, device)]
    scores = summarise([hits for _, hits in series], figure, *material.codes)
    records = [about | own | score for (own, _), score in zip(series, scores, strict=True)]
    sizes = {"source_words": len(spaces[0].rows), "target_words": len(spaces[1].rows)}
    return records, sizes | {"train": train.describe(), "test": test.describe()}


def _encoders(material: Material, figure: str, spaces: Sequence[Vocabulary], device: str) -> Iterator[Series]:
    """Yield the hits of every layer of the trained encoders and of untrained ones."""
    known = material.known(spaces)
    for kind in (TRAINED, UNTRAINED):
        seeds = material.states(kind, figure)
        for layer in range(seeds[0][0].layers):
            hits = [_hits([side.read(layer) for side in sides], spaces, known, device) for sides in seeds]
            yield {"vectors": kind, "layer": layer if figure == "figure4b" else None}, hits


def _fasttext(material: Material, words: Sequence[Sequence[str]], device: str) -> Iterator[Series]:
    """Yield the hits of fastText on the words of the encoders, if there is fastText."""
    if material.tables:
        spaces = [fold_case(table.words, own) for table, own in zip(material.tables, words, strict=True)]
        vectors = [table.vectors for table in material.tables]
        yield {"vectors": "fasttext", "layer": None}, [_hits(vectors, spaces, material.known(spaces), device)]


def _hits(sides: Sequence[Matrix], spaces: Sequence[Vocabulary], known: Sequence[KnownPairs], device: str) -> Hits:
    x, y = (side[space.rows].astype(np.float32) for side, space in zip(sides, spaces, strict=True))
    return translate(x, y, known[0], known[1], device)


def _items(states: States) -> list[str]:
    if states.items is None:
        raise InputError(states.path, "states without a list of words", fix="write them with their items")
    return states.items


def main() -> None:
    """Evaluate both figures in all languages and write the result."""
    parser = plan_parser(__doc__)
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    args = parser.parse_args()
    log, device = log_to_stderr(__name__), local_device(args.device).type
    records: list[Record] = []
    counts: dict[str, Record] = {figure: {} for figure in FIGURES}
    materials, config = read_materials(args.plan)  # all dictionaries, so that a bad one is reported first
    while materials:
        material = materials.pop(0)  # so that its fastText tables go with it
        target = material.codes[1]
        for figure in FIGURES:
            found, counts[figure][target] = evaluate(material, figure, device)
            records += found
            best: dict[str, float] = {}
            for record in found:
                best[record["vectors"]] = max(record["p1"], best.get(record["vectors"], 0.0))
            shown = ", ".join(f"{kind} {score:.3f}" for kind, score in best.items())
            log.info("%s %s, best P@1 on %d pairs: %s", figure, target, found[0]["pairs"], shown)
    write_json(args.out, {"records": records, "counts": counts, "config": config})


if __name__ == "__main__":
    run(main)
