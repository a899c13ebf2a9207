"""Write the data that the embedded languages share: inference pairs, parallel sentences and dictionaries.

    python -m xling.synthetic.generate_parallel --languages languages.json --world-seed 1 --seed 1 \\
        --nli 8000,500,1000 --parallel 2000 --tatoeba 500 --dictionary-share 0.9 --root DIR

The file is a list of {code, iso3, traits}; the first language is the source. xnli/ holds the training pairs of the
source, the dev and test pairs of all languages, and multi-way parallel sentences with paraphrases of the source column.
muse/, tatoeba/ and panlex/ pair the source with each other language.
"""

import argparse
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated

from xling.core.cli import positive
from xling.core.errors import InputError, run
from xling.core.io import read_json
from xling.core.log import log_to_stderr
from xling.core.records import Text, matching, read_record, record
from xling.core.seeds import derive_seed, python_rng
from xling.synthetic.corpus import translations
from xling.synthetic.formats.dictionaries import write_muse, write_panlex
from xling.synthetic.formats.text import parallel_columns, write_lines, xnli_evaluation, xnli_training
from xling.synthetic.generate_language import counts, shared_flags
from xling.synthetic.language import Language
from xling.synthetic.meaning import draw_meanings
from xling.synthetic.nli import balanced_pairs
from xling.synthetic.traits import Differences
from xling.synthetic.world import World, build_world


@record
class Listed:
    """An entry of the list of languages."""

    code: Text
    iso3: Annotated[str, matching("^[A-Za-z]{3}$", "a three-letter code such as fra")]
    traits: Differences


def write_sentences(languages: Sequence[Language], iso3: Mapping[str, str], args: argparse.Namespace) -> None:
    """Write inference pairs, parallel sentences of all languages, and sentence pairs for retrieval."""
    source, folder, seed = languages[0], args.root / "xnli", args.seed
    training = balanced_pairs(derive_seed(seed, "nli", "train"), args.nli["train"])
    texts = ((source.text(pair.premise), source.text(pair.hypothesis), pair.label) for pair in training)
    write_lines(folder / f"multinli.train.{source.code}.tsv", xnli_training(texts))
    for split in ("dev", "test"):  # the same pairs in every language
        pairs = list(balanced_pairs(derive_seed(seed, "nli", split), args.nli[split]))
        columns = {
            language.code: [(language.realise(pair.premise), language.realise(pair.hypothesis)) for pair in pairs]
            for language in languages
        }
        write_lines(folder / f"xnli.{split}.tsv", xnli_evaluation(pairs, columns))
    meanings = list(islice(draw_meanings((seed, "15way"), "wiki", "web"), args.parallel))
    table = {language.code: list(map(language.text, meanings)) for language in languages}
    write_lines(folder / "xnli.15way.orig.tsv", parallel_columns(table))
    rng = python_rng(seed, "paraphrase", source.code)
    paraphrases = (source.paraphrase(meaning, rng) for meaning in meanings)
    write_lines(folder / f"xnli.15way.{source.code}2.txt", paraphrases)
    for target in languages[1:]:  # different sentences for each language, as in LASER's Tatoeba sets
        meanings = list(islice(draw_meanings((seed, "tatoeba", target.code), "wiki", "web"), args.tatoeba))
        for language in (source, target):
            name = f"tatoeba.{iso3[target.code]}-{iso3[source.code]}.{iso3[language.code]}"
            write_lines(args.root / "tatoeba" / name, map(language.text, meanings))


def write_dictionaries(languages: Sequence[Language], iso3: Mapping[str, str], args: argparse.Namespace) -> None:
    """Write MUSE lists, and PanLex tables with a share of the source words, which is the same for all targets."""
    source, *others = languages
    frequency = dict(source.word_list())
    dictionaries = {target.code: translations(source, target) for target in others}
    for code, entries in dictionaries.items():
        write_muse(args.root / "muse", source.code, code, entries, frequency)
    words = sorted({entry.source for entries in dictionaries.values() for entry in entries})
    share = max(1, round(args.dictionary_share * len(words)))
    known = set(python_rng(args.seed, "panlex").sample(words, share))
    kept = {iso3[code]: [entry for entry in entries if entry.source in known] for code, entries in dictionaries.items()}
    write_panlex(args.root / "panlex", iso3[source.code], kept)


def read_languages(path: Path, world: World) -> tuple[list[Language], dict[str, str]]:
    """Return the languages that a file lists, the source first, and the three-letter code of each."""
    listed = read_record(list[Listed], read_json(path), path)
    if not listed:
        raise InputError(path, "lists no language", fix="a list of {code, iso3, traits}, the source first")
    return [Language(one.code, one.traits, world) for one in listed], {one.code: one.iso3 for one in listed}


def share(text: str) -> float:
    """Parse a share above 0 and at most 1."""
    if not 0 < float(text) <= 1:
        raise argparse.ArgumentTypeError(f"expected a share above 0 and at most 1, found {text!r}")
    return float(text)


def main() -> None:
    """Write the data that the languages share."""
    parser = shared_flags(__doc__)
    parser.add_argument("--languages", required=True, type=Path, help="JSON file: list of {code, iso3, traits}")
    parser.add_argument("--nli", required=True, type=counts, help="pairs: train,dev,test")
    parser.add_argument("--parallel", required=True, type=positive, help="rows of XNLI-15way")
    parser.add_argument("--tatoeba", required=True, type=positive, help="pairs for each language")
    parser.add_argument("--dictionary-share", default=1.0, type=share, help="share of source words that PanLex knows")
    args = parser.parse_args()
    languages, iso3 = read_languages(args.languages, build_world(args.world_seed))
    write_sentences(languages, iso3, args)
    write_dictionaries(languages, iso3, args)
    log_to_stderr(__name__).info("wrote the sources that %s share below %s", ", ".join(iso3), args.root)


if __name__ == "__main__":
    run(main)
