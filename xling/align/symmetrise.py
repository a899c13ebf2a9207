"""Word alignments of both directions made into one: grow-diag-final-and (Koehn et al. 2005, as in Moses).

A link (i, j) joins word i of the source sentence and word j of the target sentence, counted from 0.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

from xling.core.errors import InputError
from xling.core.io import numbered_lines

Link = tuple[int, int]
Links = frozenset[Link]
# In the order of the definition, which matters: a link may cover the word that another one needs uncovered.
NEIGHBOURS = ((0, -1), (-1, 0), (0, 1), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))


def parse_links(text: str) -> Links:
    """Read links written as `0-0 1-2`; anything else is a ValueError."""
    links = set()
    for link in text.split():
        source, _, target = link.partition("-")
        if not (source.isdecimal() and target.isdecimal()):
            raise ValueError(f"{link!r} is not a link such as 0-1")
        links.add((int(source), int(target)))
    return frozenset(links)


def read_links(path: Path, lengths: Sequence[tuple[int, ...]]) -> Iterator[Links]:
    """Yield the links of sentence pairs of these lengths in words; there must be one line per pair."""
    number = 0
    for number, line in numbered_lines(path):
        if number > len(lengths):
            break
        try:
            links = parse_links(line)
        except ValueError as error:
            raise InputError(path, str(error), line=number) from None
        source, target = lengths[number - 1]
        for i, j in sorted(links):
            if i >= source or j >= target:
                raise InputError(path, f"link {i}-{j}, but the sentences have {source} and {target} words", number)
        yield links
    if number != len(lengths):
        count = f"more than {len(lengths)}" if number > len(lengths) else number
        raise InputError(path, f"{count} lines of links for {len(lengths)} sentences", fix="align the words again")


def format_links(links: Iterable[Link]) -> str:
    """Write links in order, as `0-0 1-2`."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def grow_diag_final_and(forward: Links, backward: Links) -> Links:
    """Return the symmetrised links.

    `forward` has a source word for each target word, `backward` a target word for each source word; both hold
    (source, target). As Moses does, points are visited by target word, then source word, and the final step takes
    `forward` first.
    """
    union, kept = forward | backward, set(forward & backward)
    sources, targets = {source for source, _ in kept}, {target for _, target in kept}
    points = list(product(sorted({target for _, target in union}), sorted({source for source, _ in union})))

    def add(link: Link) -> None:
        kept.add(link)
        sources.add(link[0])
        targets.add(link[1])

    grown = True
    while grown:
        grown = False
        for target, source in points:
            if (source, target) in kept:
                for i, j in NEIGHBOURS:
                    link = source + i, target + j
                    if link in union and (link[0] not in sources or link[1] not in targets):
                        add(link)
                        grown = True
    for direction in (forward, backward):
        for source, target in sorted(direction, key=lambda link: link[::-1]):
            if source not in sources and target not in targets:
                add((source, target))
    return frozenset(kept)


def one_to_one(links: Iterable[Link]) -> Links:
    """Return the links whose source word and target word both have no other link."""
    found = list(links)
    sources, targets = Counter(source for source, _ in found), Counter(target for _, target in found)
    return frozenset(link for link in found if sources[link[0]] == 1 and targets[link[1]] == 1)
