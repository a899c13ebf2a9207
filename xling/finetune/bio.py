"""BIO tags: the repair before scoring (section 3.2 of the paper), and the spans that tags stand for."""

from collections.abc import Iterator, Sequence

OUTSIDE = "O"
Span = tuple[str, int, int]  # type, first word, one past the last


def spans(tags: Sequence[str]) -> list[Span]:
    """Return the spans of tags after repair: any I- continues a span, or begins one if there is none to continue.

    The last type of a span is its type: `B-X I-Y I-Z` is one span of type Z.
    """
    return [(tags[end - 1][2:], start, end) for start, end in _runs(tags)]


def repair(tags: Sequence[str]) -> list[str]:
    """Return valid BIO: a standalone `I-X` becomes `B-X`; within one span the last type wins."""
    mended = list(tags)
    for kind, start, end in spans(tags):
        mended[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return mended


def _runs(tags: Sequence[str]) -> Iterator[tuple[int, int]]:
    start: int | None = None
    for place, tag in enumerate(tags):
        if start is not None and not tag.startswith("I-"):
            yield start, place
            start = None
        if start is None and tag != OUTSIDE:
            start = place
    if start is not None:
        yield start, len(tags)
