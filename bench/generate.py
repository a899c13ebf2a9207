"""How fast the embedded languages are generated: python bench/generate.py --out generate.json

Corpus text of each language, against a peer in the same run that lays every sentence out anew instead of keeping the
layout of its skeleton. Processor time of one core; the best of some rounds, because other work slows a machine down.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from xling.core.io import write_json
from xling.synthetic.corpus import documents
from xling.synthetic.grammar import Order, layout
from xling.synthetic.language import Language
from xling.synthetic.meaning import draw_meanings
from xling.synthetic.traits import Differences
from xling.synthetic.world import build_world

REPOSITORY = Path(__file__).resolve().parent.parent
LANGUAGES = REPOSITORY / "config.yaml"
WANTED = 20_000  # sentences a second


def corpus(language: Language) -> Iterator[object]:
    """Yield the sentences of a corpus."""
    for document in documents(language, "wiki", 1):
        for paragraph in document.paragraphs:
            yield from paragraph


def trees(language: Language) -> Iterator[object]:
    """Yield sentences with their trees."""
    return map(language.realise, draw_meanings((1,), "wiki"))


def laid_out_anew(language: Language) -> Iterator[object]:
    """Yield text whose layout is made for each sentence, which is what the templates save."""
    for meaning in draw_meanings((1,), "wiki"):
        layout(meaning.skeleton, language.traits, Order.PLAIN)
        yield language.text(meaning)


def rate(
    make: Callable[[Language], Iterator[object]], code: str, traits: dict[str, Any], count: int, rounds: int
) -> float:
    """Return sentences per second of processor time, with a language that has laid out nothing yet."""
    best = 0.0
    for _ in range(rounds):
        language = Language(code, Differences(**traits), build_world(1))
        start = time.process_time()
        done = sum(1 for _ in islice(make(language), count))
        best = max(best, done / (time.process_time() - start))
    return best


def main() -> None:
    args = parse_args()
    described = yaml.safe_load(args.languages.read_text(encoding="utf-8"))["synthetic"]["languages"]
    rows = {}
    print(f"{'':4}{'corpus/s':>10}{'trees/s':>10}{'anew/s':>10}{'corpus to anew':>16}")
    for code, values in described.items():
        rates = [rate(make, code, values, args.sentences, args.rounds) for make in (corpus, trees, laid_out_anew)]
        rows[code] = dict(zip(("corpus", "trees", "anew"), rates, strict=True)) | {"ratio": rates[0] / rates[2]}
        print(f"{code:4}{rates[0]:>10.0f}{rates[1]:>10.0f}{rates[2]:>10.0f}{rates[0] / rates[2]:>16.1f}")
    reached = min(row["corpus"] for row in rows.values()) >= WANTED
    print(f"wanted: {WANTED} sentences of corpus text a second: {'reached' if reached else 'NOT reached'}")
    write_json(args.out, {"sentences_per_second": rows, "wanted": WANTED, "reached": reached})


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--languages", type=Path, default=LANGUAGES, help="YAML with the traits of each language")
    parser.add_argument("--sentences", type=int, default=50_000, help="how many each round makes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
