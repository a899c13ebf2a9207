"""Tokenise a text: python -m xling.tokenization.tokenise_text --input text.txt.zst --options en.json --out words.zst

With --thin MARGIN a random sample of the lines is kept: about MARGIN times the size of the text in --wanted, to which
this text is trimmed later (section 4.1, Wiki-CC). The draw depends on the line number in the whole text, not on shards.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from xling.core.errors import InputError, run
from xling.core.io import read_json, read_lines, write_json, write_text
from xling.core.log import Progress, log_to_stderr
from xling.core.seeds import numpy_rng
from xling.data.parts import Part
from xling.tokenization.tokeniser import Tokeniser, tokeniser_from

DRAWN_LINES = 1 << 14  # number of lines per random generator


def thin(
    lines: Iterable[str], margin: float, wanted: Sequence[Path], given: Sequence[Path], part: Part
) -> Iterator[str]:
    """Yield a sample of the lines of a shard; `wanted` and `given` are stats files of the other text and this text."""
    share = margin * _total("characters", wanted) / max(_total("characters", given), 1)
    before, block, draws = _total("paragraphs", given[: part.number - 1]), -1, []
    for number, line in enumerate(lines, start=before):  # the number of the line in the whole text
        if number // DRAWN_LINES != block:
            block = number // DRAWN_LINES
            draws = numpy_rng("thin", block).random(DRAWN_LINES).tolist()
        if draws[number % DRAWN_LINES] < share:
            yield line


def write_words(source: Path, lines: Iterable[str], tokeniser: Tokeniser, out: Path, part: Part) -> dict[str, int]:
    """Write lines as words, without empty lines; return the numbers of lines, words and characters without spaces."""
    counts = {"lines": 0, "words": 0, "characters": 0}
    progress = Progress(f"tokenising {source.name}")
    with write_text(out) as handle:
        for line in filter(None, map(tokeniser.line, lines)):
            handle.write(f"{line}\n")
            spaces = line.count(" ")
            counts["lines"] += 1
            counts["words"] += spaces + 1
            counts["characters"] += len(line) - spaces
            progress.add(1)
        if counts["lines"] == 0 and part.of == 1:
            raise InputError(source, "no words in it", fix="an empty language: check the source it was made from")
    progress.finish()
    return counts


def _total(unit: str, stats: Sequence[Path]) -> int:
    """Return how many characters or paragraphs extracted texts have in total."""
    return sum(read_json(path)[unit] for path in stats)


def main() -> None:
    """Tokenise one file as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, required=True, help="text, one paragraph per line, compressed by suffix")
    parser.add_argument("--options", type=Path, required=True, help="JSON file of tokeniser options")
    parser.add_argument("--out", type=Path, required=True, help="words joined by spaces, one paragraph per line")
    parser.add_argument("--stats", type=Path, required=True, help="counts of lines, words and characters (JSON)")
    parser.add_argument("--part", type=Part.parse, default=Part(), help="which shard of a text it is, as 3-of-16")
    parser.add_argument("--thin", type=float, metavar="MARGIN", help="keep so many times the size of --wanted")
    parser.add_argument("--wanted", type=Path, nargs="+", default=[], help="stats of the shards of the other text")
    parser.add_argument("--given", type=Path, nargs="+", default=[], help="stats of all shards of this text, in order")
    args = parser.parse_args()
    lines = read_lines(args.input)
    tokeniser = tokeniser_from(args.options)
    if args.thin is not None:
        lines = thin(lines, args.thin, args.wanted, args.given, args.part)
    counts = write_words(args.input, lines, tokeniser, args.out, args.part)
    write_json(args.stats, counts)
    log_to_stderr(__name__).info("%(lines)d lines, %(words)d words", counts)


if __name__ == "__main__":
    run(main)
