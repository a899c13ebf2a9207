"""Write what the embedded languages have together: inference pairs, parallel sentences and dictionaries.

    python -m xling.synthetic.write_parallel --traits '{"en": {…}, "fr": {…}}' --iso3 '{"en": "eng", "fr": "fra"}' \\
        --world-seed 1 --seed 1 --nli 8000,500,1000 --parallel 2000 --tatoeba 500 --dictionary-share 0.9 --root DIR

The first language of --traits is the source. xnli/ holds its training pairs, dev and test pairs of all languages, and
multi-way parallel sentences with paraphrases of the source column; muse/, tatoeba/ and panlex/ pair it with the others.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xling.core.errors import XlingError, run
from xling.core.log import log_to_stderr
from xling.core.seeds import derive_seed, python_rng
from xling.synthetic.dictionary import translations
from xling.synthetic.draw import draw_meanings
from xling.synthetic.formats import xnli
from xling.synthetic.formats.draws import take_turns
from xling.synthetic.formats.flags import Flags, counts, json_object, share, size
from xling.synthetic.formats.muse import write_muse
from xling.synthetic.formats.panlex import write_panlex
from xling.synthetic.formats.tatoeba import write_tatoeba
from xling.synthetic.nli import balanced_pairs
from xling.synthetic.realise import Language, build_language, word_list
from xling.synthetic.traits import Traits
from xling.synthetic.types import Meaning, Translation
from xling.synthetic.world import build_world

Languages = Mapping[str, Language]  # the source first


def write_inference(languages: Languages, sizes: tuple[int, ...], seed: int, folder: Path) -> None:
    """Write the training pairs of the source language, then the same dev and test pairs in every language."""
    source = next(iter(languages.values()))
    training = balanced_pairs(derive_seed(seed, "nli", "train"), sizes[0])
    realised = ((source.realise(pair.premise), source.realise(pair.hypothesis), pair.label) for pair in training)
    xnli.write_training(folder / f"multinli.train.{source.traits.code}.tsv", realised)
    for split, number in zip(("dev", "test"), sizes[1:], strict=True):
        pairs = list(balanced_pairs(derive_seed(seed, "nli", split), number))
        columns = {
            code: [(language.realise(pair.premise), language.realise(pair.hypothesis)) for pair in pairs]
            for code, language in languages.items()
        }
        xnli.write_evaluation(folder / f"xnli.{split}.tsv", pairs, columns)


def write_multiway(languages: Languages, number: int, seed: int, folder: Path) -> None:
    """Write parallel sentences of all languages, and the source's column said in other words."""
    meanings = list(draw(number, seed, "15way"))
    columns = {code: [language.text(m) for m in meanings] for code, language in languages.items()}
    xnli.write_parallel(folder / "xnli.15way.orig.tsv", columns)
    code, source = next(iter(languages.items()))
    rng = python_rng(seed, "paraphrase", code)
    xnli.write_column(folder / f"xnli.15way.{code}2.txt", (source.paraphrase(m, rng).text for m in meanings))


def write_retrieval(languages: Languages, iso3: Mapping[str, str], number: int, seed: int, folder: Path) -> None:
    """Write sentence pairs of the source with each other language, other sentences for each."""
    (source_code, source), *others = languages.items()
    for code, language in others:
        pairs = [(source.text(m), language.text(m)) for m in draw(number, seed, "tatoeba", code)]
        write_tatoeba(folder, iso3[source_code], iso3[code], pairs)


def write_dictionaries(languages: Languages, iso3: Mapping[str, str], part: float, seed: int, root: Path) -> None:
    """Write MUSE lists, and PanLex tables that know a share of the source words."""
    (source_code, source), *others = languages.items()
    frequency = dict(word_list(source))
    dictionaries = {code: translations(source, language) for code, language in others}
    for code, entries in dictionaries.items():
        write_muse(root / "muse", source_code, code, entries, frequency)
    known = known_share(dictionaries, part, seed)
    write_panlex(root / "panlex", iso3[source_code], {iso3[code]: entries for code, entries in known.items()})


def known_share(dictionaries: Mapping[str, list[Translation]], part: float, seed: int) -> dict[str, list[Translation]]:
    """Return the entries of a share of the source words, the same ones for all targets: none knows every word."""
    words = sorted({entry.source for entries in dictionaries.values() for entry in entries})
    known = set(python_rng(seed, "panlex").sample(words, max(1, round(part * len(words)))))
    return {code: [entry for entry in entries if entry.source in known] for code, entries in dictionaries.items()}


def draw(number: int, *parts: object) -> list[Meaning]:
    """Return meanings of both domains from a stream that the parts name."""
    return list(take_turns([draw_meanings(parts, domain) for domain in ("wiki", "web")], number))


def build_languages(traits: Mapping[str, Any], world_seed: int) -> dict[str, Language]:
    """Return the languages by their codes, in the order given."""
    world = build_world(world_seed)
    for code, values in traits.items():
        if not isinstance(values, dict) or values.get("code", code) != code:
            raise XlingError(f"--traits: expected an object of traits under {code!r}, without another code in it")
    return {code: build_language(Traits.from_dict({"code": code, **values}), world) for code, values in traits.items()}


def check_iso3(iso3: Mapping[str, Any], codes: Mapping[str, Any]) -> None:
    """Refuse three-letter codes that are missing or not three letters."""
    for code in codes:
        if not (isinstance(iso3.get(code), str) and len(iso3[code]) == 3 and iso3[code].isalpha()):
            raise XlingError(
                f'--iso3: no three-letter code for language {code!r} (expected for example {{"fr": "fra"}})'
            )


def flags() -> argparse.Namespace:
    """Read the command line."""
    parser = Flags(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--traits", required=True, type=json_object, help="code to traits of each language, source first"
    )
    parser.add_argument("--iso3", required=True, type=json_object, help="code to three-letter code of each language")
    parser.add_argument("--world-seed", required=True, type=int, help="the world that all languages of a study share")
    parser.add_argument("--seed", required=True, type=int, help="which draw of sentences")
    parser.add_argument("--nli", required=True, type=counts(3), help="pairs: train,dev,test")
    parser.add_argument("--parallel", required=True, type=size, help="rows of XNLI-15way")
    parser.add_argument("--tatoeba", required=True, type=size, help="pairs for each language")
    parser.add_argument("--dictionary-share", default=1.0, type=share, help="share of source words that PanLex knows")
    parser.add_argument("--root", required=True, type=Path, help="the data root to write below")
    return parser.parse_args()


def main() -> None:
    """Write the sources that languages share."""
    args = flags()
    log = log_to_stderr("synthetic")
    check_iso3(args.iso3, args.traits)
    languages = build_languages(args.traits, args.world_seed)
    write_inference(languages, args.nli, args.seed, args.root / "xnli")
    write_multiway(languages, args.parallel, args.seed, args.root / "xnli")
    write_retrieval(languages, args.iso3, args.tatoeba, args.seed, args.root / "tatoeba")
    write_dictionaries(languages, args.iso3, args.dictionary_share, args.seed, args.root)
    log.info("wrote the sources that %s share below %s", ", ".join(languages), args.root)


if __name__ == "__main__":
    run(main)
