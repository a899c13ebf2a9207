"""Word alignments of both directions made into one: grow-diag-final-and (Koehn et al. 2005, as in Moses).

A link (i, j) joins word i of the source sentence and word j of the target sentence, counted from 0.
"""

from collections import Counter
from collections.abc import Iterable
from heapq import heappop, heappush

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


def format_links(links: Iterable[Link]) -> str:
    """Write links in order, as `0-0 1-2`."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def grow_diag_final_and(forward: Links, backward: Links) -> Links:
    """Return the symmetrised links.

    `forward` has a source word for each target word, `backward` a target word for each source word; both hold
    (source, target). As Moses does, points are visited by target word, then source word, and the final step takes
    `forward` first.
    """
    kept = _Covering(forward & backward)
    while _grow(kept, forward | backward):
        pass
    for direction in (forward, backward):
        for source, target in sorted(direction, key=_by_target):
            if source not in kept.sources and target not in kept.targets:
                kept.add((source, target))
    return frozenset(kept.links)


def one_to_one(links: Iterable[Link]) -> Links:
    """Return the links whose source word and target word both have no other link."""
    found = list(links)
    sources, targets = Counter(source for source, _ in found), Counter(target for _, target in found)
    return frozenset(link for link in found if sources[link[0]] == 1 and targets[link[1]] == 1)


class _Covering:
    """Links, and the words that they cover."""

    def __init__(self, links: Links) -> None:
        self.links = set(links)
        self.sources = {source for source, _ in links}
        self.targets = {target for _, target in links}

    def add(self, link: Link) -> None:
        self.links.add(link)
        self.sources.add(link[0])
        self.targets.add(link[1])


def _grow(kept: _Covering, union: Links) -> bool:
    """Scan the links once, adding neighbours in the union that cover a new word; say whether there were any.

    A link added ahead of the scan is scanned in its turn.
    """
    grown = False
    ahead = sorted(map(_by_target, kept.links))
    while ahead:
        target, source = heappop(ahead)
        for i, j in NEIGHBOURS:
            link = source + i, target + j
            if link in union and (link[0] not in kept.sources or link[1] not in kept.targets):
                kept.add(link)
                grown = True
                if _by_target(link) > (target, source):
                    heappush(ahead, _by_target(link))
    return grown


def _by_target(link: Link) -> tuple[int, int]:
    return link[1], link[0]
