"""Symmetrised links equal the published definition."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.align.symmetrise import Links, format_links, grow_diag_final_and, one_to_one, parse_links

LENGTH = 7
WORDS = st.lists(st.one_of(st.none(), st.integers(0, LENGTH - 1)), min_size=LENGTH, max_size=LENGTH)


def by_definition(forward: Links, backward: Links) -> Links:
    """The pseudo-code of Koehn et al., loop by loop over a table; e is the target side, f the source side."""
    around = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    table = {(e, f): (f, e) in forward and (f, e) in backward for e in range(LENGTH) for f in range(LENGTH)}

    def e_aligned(e: int) -> bool:
        return any(table.get((e, f), False) for f in range(LENGTH))

    def f_aligned(f: int) -> bool:
        return any(table.get((e, f), False) for e in range(LENGTH))

    added = True
    while added:
        added = False
        for e in range(LENGTH):
            for f in range(LENGTH):
                if table[e, f]:
                    for step in around:
                        new = e + step[0], f + step[1]
                        if (not e_aligned(new[0]) or not f_aligned(new[1])) and (new[1], new[0]) in forward | backward:
                            table[new] = added = True
    for direction in (forward, backward):
        for e in range(LENGTH):
            for f in range(LENGTH):
                if not e_aligned(e) and not f_aligned(f) and (f, e) in direction:
                    table[e, f] = True
    return frozenset((f, e) for (e, f), linked in table.items() if linked)


@pytest.mark.parametrize(
    ("forward", "backward", "expected"),
    [
        ("0-0 1-1", "0-0 1-1", "0-0 1-1"),
        ("0-0", "1-1", "0-0 1-1"),  # nothing in common: the final step takes both
        ("0-0 0-1", "0-0", "0-0 0-1"),  # a neighbour covers a new word
        ("0-0 0-2", "0-0", "0-0"),  # not a neighbour, and its source word is covered
        ("0-0 2-2", "0-0", "0-0 2-2"),  # not a neighbour, but both words are free
        ("0-0 1-1", "0-0 1-1 2-1", "0-0 1-1 2-1"),
        ("0-0 1-1 1-2", "0-0 2-2 1-1", "0-0 1-1 1-2 2-2"),  # 1-2 and 2-2 each cover a new word in their turn
        ("0-0", "0-0 1-0", "0-0 1-0"),
        ("0-1", "0-0", "0-1"),  # the final step takes the forward link first
        ("", "", ""),
    ],
)
def test_hand_made_cases(forward: str, backward: str, expected: str) -> None:
    assert format_links(grow_diag_final_and(parse_links(forward), parse_links(backward))) == expected


@settings(max_examples=300)
@given(sources=WORDS, targets=WORDS)
def test_equals_the_definition(sources: list[int | None], targets: list[int | None]) -> None:
    forward = frozenset((f, e) for e, f in enumerate(sources) if f is not None)
    backward = frozenset((f, e) for f, e in enumerate(targets) if e is not None)
    assert grow_diag_final_and(forward, backward) == by_definition(forward, backward)


@settings(max_examples=100)
@given(links=st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5))))
def test_between_intersection_and_union_and_one_to_one(links: Links) -> None:
    other = frozenset((target, source) for source, target in links)
    grown = grow_diag_final_and(links, other)
    assert links & other <= grown <= links | other
    single = one_to_one(grown)
    assert len({source for source, _ in single}) == len({target for _, target in single}) == len(single)
    assert single <= grown


def test_one_to_one_drops_every_link_of_a_shared_word() -> None:
    assert one_to_one(parse_links("0-0 1-1 1-2 3-4 2-4 5-5")) == parse_links("0-0 5-5")


def test_links_are_read_and_written_in_order() -> None:
    assert format_links(parse_links("10-2 2-3 2-1")) == "2-1 2-3 10-2"
    for bad in ("1", "1-", "a-b", "1-2-3"):
        with pytest.raises(ValueError, match=f"'{bad}' is not a link such as 0-1"):
            parse_links(bad)
