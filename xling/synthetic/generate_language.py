"""Write everything that one embedded language has of its own, each source in its official raw format.

    python -m xling.synthetic.generate_language --code fr --traits fr.json --source en --world-seed 1 --seed 1 \\
        --wiki-sentences 40000 --crawl-sentences 40000 --treebank-sentences 4000,500,500 --ner-sentences 4000,500,500 \\
        --root DIR

wikidump/, crawl/, ud/ and wikiann/ for every language; conll2003/ for the source language of transfer; msra/
and jieba/ for a language without spaces. Every text is drawn from a stream of its own.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from xling.core.cli import positive
from xling.core.errors import run
from xling.core.io import read_json
from xling.core.log import log_to_stderr
from xling.synthetic.corpus import documents, take_sentences
from xling.synthetic.flags import build_language, counts, shared_flags
from xling.synthetic.formats.mediawiki import write_dump
from xling.synthetic.formats.text import conll2003, crawl, jieba_dictionary, msra, treebank, wikiann, write_lines
from xling.synthetic.language import Language, Sentence
from xling.synthetic.meaning import Domain, draw_meanings
from xling.synthetic.world import build_world

CONLL_NAMES = {"train": "train", "dev": "testa", "test": "testb"}
DUMP_DATE = "20200101"


def write_wikipedia(language: Language, sentences: int, seed: int, root: Path) -> None:
    """Write the dump."""
    pages = take_sentences(documents(language, "wiki", seed), sentences)
    path = root / "wikidump" / f"{language.code}wiki-{DUMP_DATE}-pages-articles.xml.bz2"
    write_dump(path, pages, language.code, " " if language.traits.spaces else "", seed)


def write_crawl(language: Language, sentences: int, seed: int, root: Path) -> None:
    """Write web text."""
    texts = take_sentences(documents(language, "web", seed), sentences)
    write_lines(root / "crawl" / f"{language.code}.txt.xz", crawl(texts, " " if language.traits.spaces else ""))


def write_treebanks(language: Language, sizes: dict[str, int], seed: int, root: Path) -> None:
    """Write the three parts of a treebank, of mixed genres as the treebanks of the paper are."""
    for split, number in sizes.items():
        name = f"{language.code}-ud-{split}"
        sentences = draw(language, number, (seed, name), "wiki", "web")
        write_lines(root / "ud" / language.code / f"{name}.conllu", treebank(sentences, name, seed))


def write_entities(language: Language, sizes: dict[str, int], is_source: bool, seed: int, root: Path) -> None:
    """Write the entity sets: WikiAnn of Wikipedia's domain, the sets of news from the other one."""
    code, spaces = language.code, language.traits.spaces
    for split, number in sizes.items():
        sentences = draw(language, number, (seed, "wikiann", split), "wiki")
        write_lines(root / "wikiann" / code / split, wikiann(sentences, code, spaces))
        news = draw(language, number, (seed, "news", split), "web")
        if is_source:
            write_lines(root / "conll2003" / f"eng.{CONLL_NAMES[split]}", conll2003(news))
        elif not spaces and split != "dev":  # the bakeoff has no development set
            write_lines(root / "msra" / f"msra.{split}.bio", msra(news))


def draw(language: Language, number: int, parts: tuple[object, ...], *domains: Domain) -> Iterator[Sentence]:
    """Yield sentences of the domains in turn, from streams that the parts name."""
    return map(language.realise, islice(draw_meanings((language.code, *parts), *domains), number))


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
    language = build_language(args.code, read_json(args.traits), build_world(args.world_seed), args.traits)
    write_wikipedia(language, args.wiki_sentences, args.seed, args.root)
    write_crawl(language, args.crawl_sentences, args.seed, args.root)
    write_treebanks(language, args.treebank_sentences, args.seed, args.root)
    write_entities(language, args.ner_sentences, args.code == args.source, args.seed, args.root)
    if not language.traits.spaces:
        write_lines(args.root / "jieba" / f"{args.code}.dict.txt", jieba_dictionary(language.word_list()))
    log_to_stderr(__name__).info("wrote the sources of %s below %s", args.code, args.root)


if __name__ == "__main__":
    run(main)
