"""Write everything that one embedded language has of its own, each source in its official raw format.

    python -m xling.synthetic.write_language --code fr --traits '{…}' --source en --world-seed 1 --seed 1 \\
        --wiki-sentences 40000 --crawl-sentences 40000 --treebank-sentences 4000,500,500 --ner-sentences 4000,500,500 \\
        --vector-size 32 --root DIR

wikidump/, crawl/, ud/, wikiann/ and fasttext/ for every language; conll2003/ for the source language of transfer; msra/
and jieba/ for a language without spaces. Every text is a draw of its own: no two share a stream.
"""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from xling.core.errors import XlingError, run
from xling.core.log import log_to_stderr
from xling.synthetic.corpus import documents
from xling.synthetic.draw import draw_meanings
from xling.synthetic.formats.conll2003 import write_conll2003
from xling.synthetic.formats.crawl import write_crawl
from xling.synthetic.formats.draws import take_sentences, take_turns
from xling.synthetic.formats.fasttext import TokenLog, word_splitter, write_vectors
from xling.synthetic.formats.flags import Flags, counts, json_object, size
from xling.synthetic.formats.jieba_dictionary import write_jieba
from xling.synthetic.formats.mediawiki import write_dump
from xling.synthetic.formats.msra import write_msra
from xling.synthetic.formats.treebank import write_treebank
from xling.synthetic.formats.wikiann import write_wikiann
from xling.synthetic.realise import Language, build_language, word_list
from xling.synthetic.traits import Traits
from xling.synthetic.types import Document, Domain, Sentence
from xling.synthetic.world import build_world

SPLITS = ("train", "dev", "test")
CONLL_NAMES = {"train": "train", "dev": "testa", "test": "testb"}
MIXED: tuple[Domain, ...] = ("wiki", "web")
DUMP_DATE = "20200101"

Sizes = tuple[int, ...]


def write_wikipedia(language: Language, sentences: int, vector_size: int, seed: int, root: Path) -> None:
    """Write the dump, and word vectors of its prose."""
    code, spaces = language.traits.code, language.traits.spaces
    log = TokenLog(word_splitter((form for form, _ in word_list(language)), spaces))
    pages = _heard(take_sentences(documents(language, "wiki", seed), sentences), log)
    path = root / "wikidump" / f"{code}wiki-{DUMP_DATE}-pages-articles.xml.bz2"
    write_dump(path, pages, code, " " if spaces else "", seed)
    write_vectors(root / "fasttext" / f"wiki.{code}.vec", log, vector_size, seed)


def write_crawled(language: Language, sentences: int, seed: int, root: Path) -> None:
    """Write web text."""
    texts = take_sentences(documents(language, "web", seed), sentences)
    write_crawl(root / "crawl" / f"{language.traits.code}.txt.xz", texts, " " if language.traits.spaces else "")


def write_treebanks(language: Language, sizes: Sizes, seed: int, root: Path) -> None:
    """Write the three parts of a treebank, of mixed genres as the treebanks of the paper are."""
    code = language.traits.code
    for split, number in zip(SPLITS, sizes, strict=True):
        name = f"{code}-ud-{split}"
        write_treebank(root / "ud" / code / f"{name}.conllu", draw(language, MIXED, number, seed, name), name, seed)


def write_entities(language: Language, sizes: Sizes, is_source: bool, seed: int, root: Path) -> None:
    """Write the entity sets: WikiAnn of Wikipedia's domain, the sets of news from the other one."""
    code, spaces = language.traits.code, language.traits.spaces
    for split, number in zip(SPLITS, sizes, strict=True):
        write_wikiann(
            root / "wikiann" / code / split, draw(language, ("wiki",), number, seed, "wikiann", split), code, spaces
        )
        news = draw(language, ("web",), number, seed, "news", split)
        if is_source:
            write_conll2003(root / "conll2003" / f"eng.{CONLL_NAMES[split]}", news)
        elif not spaces and split != "dev":  # the bakeoff has no development set
            write_msra(root / "msra" / f"msra.{split}.bio", news)


def draw(language: Language, domains: Iterable[Domain], number: int, *parts: object) -> Iterator[Sentence]:
    """Yield sentences of the domains in turn, from streams that the parts name."""
    seed_parts = (language.traits.code, *parts)
    meanings = take_turns([draw_meanings(seed_parts, domain) for domain in domains], number)
    return map(language.realise, meanings)


def _heard(pages: Iterable[Document], log: TokenLog) -> Iterator[Document]:
    """Yield the documents, their sentences written down on the way."""
    for page in pages:
        for paragraph in page.paragraphs:
            log.listen(paragraph.sentences)
        yield page


def traits_of(code: str, values: dict[str, Any]) -> Traits:
    """Return a language's traits; the code may stand in them too, but not another one."""
    if values.get("code", code) != code:
        raise XlingError(f"--traits describes language {values['code']!r}, but --code is {code!r}")
    return Traits.from_dict({"code": code, **values})


def flags() -> argparse.Namespace:
    """Read the command line."""
    parser = Flags(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--code", required=True, help="the language, as in file names: fr")
    parser.add_argument("--traits", required=True, type=json_object, help="its traits, a JSON object")
    parser.add_argument(
        "--source", required=True, help="code of the source language of transfer, which gets conll2003/"
    )
    parser.add_argument("--world-seed", required=True, type=int, help="the world that all languages of a study share")
    parser.add_argument("--seed", required=True, type=int, help="which draw of text")
    parser.add_argument("--wiki-sentences", required=True, type=size)
    parser.add_argument("--crawl-sentences", required=True, type=size)
    parser.add_argument("--treebank-sentences", required=True, type=counts(3), help="train,dev,test")
    parser.add_argument("--ner-sentences", required=True, type=counts(3), help="train,dev,test")
    parser.add_argument("--vector-size", default=32, type=size)
    parser.add_argument("--root", required=True, type=Path, help="the data root to write below")
    return parser.parse_args()


def main() -> None:
    """Write the sources of one language."""
    args = flags()
    log = log_to_stderr("synthetic")
    language = build_language(traits_of(args.code, args.traits), build_world(args.world_seed))
    write_wikipedia(language, args.wiki_sentences, args.vector_size, args.seed, args.root)
    write_crawled(language, args.crawl_sentences, args.seed, args.root)
    write_treebanks(language, args.treebank_sentences, args.seed, args.root)
    write_entities(language, args.ner_sentences, args.code == args.source, args.seed, args.root)
    if not language.traits.spaces:
        write_jieba(args.root / "jieba" / f"{args.code}.dict.txt", word_list(language))
    log.info("wrote the sources of %s below %s", args.code, args.root)


if __name__ == "__main__":
    run(main)
