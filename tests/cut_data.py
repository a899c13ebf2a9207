"""A folder of real data once more, with only the beginning of every file, each still in its own format."""

import lzma
from collections import Counter
from itertools import groupby, islice

CHARACTERS, SENTENCES, ROWS, PAIRS = 60_000, 12, 12, 50
WORDS = 2000  # of a list: so many that some of them occur in so little text


def cut_file(source, target):
    """Write the beginning of a file; the name that its publishers gave it says how it is cut."""
    target.parent.mkdir(parents=True, exist_ok=True)
    opened = lzma.open if source.suffix == ".xz" else open
    with opened(source, "rt", encoding="utf-8") as lines, opened(target, "wt", encoding="utf-8") as kept:
        if source.suffix == ".conllu" or "wikiann" in source.parts:
            kept.writelines(first_sentences(lines))
        elif source.name in ("xnli.dev.tsv", "xnli.test.tsv"):
            kept.writelines(first_rows(lines))
        elif source.parent.name == "text":
            kept.writelines(first_paragraphs(lines))
        else:
            kept.writelines(islice(lines, PAIRS if source.parent.name in ("xnli", "tatoeba") else WORDS))


def first_paragraphs(lines):
    """Yield the first paragraphs of a text; their lengths differ much between sources, so characters are counted."""
    left = CHARACTERS
    for line in lines:
        left -= len(line)
        if left < 0:
            return
        yield line


def first_sentences(lines):
    """Yield the first sentences of a file that sets them apart by empty lines."""
    groups = groupby(lines, key=lambda line: bool(line.strip()))
    for sentence in islice((list(group) for full, group in groups if full), SENTENCES):
        yield from [*sentence, "\n"]


def first_rows(lines):
    """Yield the heading of XNLI's table and the first rows of every language, which stand one language after another."""
    seen: Counter[str] = Counter()
    for line in lines:
        language = line.split("\t", 1)[0]
        seen[language] += 1
        if seen[language] <= ROWS:
            yield line
