"""Write the data of one embedded language, each source in its official raw format.

    python -m xling.synthetic.generate_language --code fr --traits fr.json --source en --world-seed 1 --seed 1 \\
        --wiki-sentences 40000 --crawl-sentences 40000 --treebank-sentences 4000,500,500 --ner-sentences 4000,500,500 \\
        --root DIR

Every language has wikidump/, crawl/, ud/ and wikiann/. The source language of transfer also has conll2003/, and a
language without spaces has msra/ and jieba/. Every text has its own random generator.
"""

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from xling.core.cli import positive
from xling.core.errors import run
from xling.core.io import read_json
from xling.core.log import log_to_stderr
from xling.core.records import read_record
from xling.synthetic.corpus import documents, take_sentences
from xling.synthetic.formats.mediawiki import write_dump
from xling.synthetic.formats.text import conll2003, crawl, jieba_dictionary, msra, treebank, wikiann, write_lines
from xling.synthetic.language import Language, Sentence
from xling.synthetic.meaning import Domain, draw_meanings
from xling.synthetic.traits import Differences
from xling.synthetic.world import build_world

CONLL_NAMES = {"train": "train", "dev": "testa", "test": "testb"}
DUMP_DATE = "20200101"


def write_language(language: Language, args: argparse.Namespace) -> None:
    """Write the sources of a language with the sizes and the seed of the command line."""
    code, spaces, seed, root = language.code, language.traits.spaces, args.seed, args.root
    joiner = " " if spaces else ""
    pages = take_sentences(documents(language, "wiki", seed), args.wiki_sentences)
    write_dump(root / "wikidump" / f"{code}wiki-{DUMP_DATE}-pages-articles.xml.bz2", pages, code, joiner, seed)
    texts = take_sentences(documents(language, "web", seed), args.crawl_sentences)
    write_lines(root / "crawl" / f"{code}.txt.xz", crawl(texts, joiner))
    for split, number in args.treebank_sentences.items():  # mixed genres, like the treebanks of the paper
        name = f"{code}-ud-{split}"
        trees = treebank(draw(language, number, (seed, name), "wiki", "web"), name, seed)
        write_lines(root / "ud" / code / f"{name}.conllu", trees)
    for split, number in args.ner_sentences.items():  # WikiAnn from the domain wiki, news sets from web
        tagged = draw(language, number, (seed, "wikiann", split), "wiki")
        write_lines(root / "wikiann" / code / split, wikiann(tagged, code, spaces))
        news = draw(language, number, (seed, "news", split), "web")
        if code == args.source:
            write_lines(root / "conll2003" / f"eng.{CONLL_NAMES[split]}", conll2003(news))
        elif not spaces and split != "dev":  # the bakeoff has no development set
            write_lines(root / "msra" / f"msra.{split}.bio", msra(news))
    if not spaces:
        write_lines(root / "jieba" / f"{code}.dict.txt", jieba_dictionary(language.word_list()))


def draw(language: Language, number: int, parts: tuple[object, ...], *domains: Domain) -> Iterator[Sentence]:
    """Yield `number` sentences, alternating between the domains; `parts` seed the random generators."""
    return map(language.realise, islice(draw_meanings((language.code, *parts), *domains), number))


def shared_flags(description: str) -> argparse.ArgumentParser:
    """Return a parser with the flags that both commands of the generator have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world-seed", required=True, type=int, help="the world that all languages of a study share")
    parser.add_argument("--seed", required=True, type=int, help="which draw of text")
    parser.add_argument("--root", required=True, type=Path, help="the data root to write below")
    return parser


def counts(text: str) -> dict[str, int]:
    """Parse the sizes of train, dev and test, such as 4000,500,500."""
    parts = text.split(",")
    if len(parts) != 3:
        raise argparse.ArgumentTypeError(f"expected three whole numbers such as 400,50,50, found {text!r}")
    return dict(zip(("train", "dev", "test"), map(positive, parts), strict=True))


def main() -> None:
    """Write the sources of one language."""
    parser = shared_flags(__doc__)
    parser.add_argument("--code", required=True, help="the language, as in file names: fr")
    parser.add_argument("--traits", required=True, type=Path, help="JSON file of the language's traits")
    parser.add_argument("--source", required=True, help="source language of transfer, the one that gets conll2003/")
    parser.add_argument("--wiki-sentences", required=True, type=positive)
    parser.add_argument("--crawl-sentences", required=True, type=positive)
    parser.add_argument("--treebank-sentences", required=True, type=counts, help="train,dev,test")
    parser.add_argument("--ner-sentences", required=True, type=counts, help="train,dev,test")
    args = parser.parse_args()
    traits = read_record(Differences, read_json(args.traits), args.traits)
    write_language(Language(args.code, traits, build_world(args.world_seed)), args)
    log_to_stderr(__name__).info("wrote the sources of %s below %s", args.code, args.root)


if __name__ == "__main__":
    run(main)
