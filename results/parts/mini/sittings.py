"""Print the targets of a sitting, those that come first with a `!`: python3 sittings.py analyses|settings

1.tar.xz has French but for Default and Extra anchors, and all floors but three of Chinese. The analyses need their
models together, so they are one sitting; `settings`, which is all that is left, is another.
"""

import sys
from collections.abc import Iterator

RESULTS = "results/mini"
TWICE = ("no-anchors", "sep-emb", "sep-l1-3", "sep-l1-6", "sep-emb-l1-6")
ONCE = ("wiki-cc", "extra-anchors", "default-anchors", "sep-emb-l1-3")
PAIRS = ("en-fr", "en-ru", "en-zh")


def transfer(encoder: str) -> list[str]:
    """Return the files of all tasks of an encoder."""
    return [f"{RESULTS}/transfer/{encoder}/{task}.json" for task in ("xnli", "ner", "parsing", "pos")]


def analyses() -> Iterator[str]:
    """Yield Figures 4 to 8, and Default of all pairs, which has to be trained for them."""
    yield f"!{RESULTS}/analyses/words.json"  # the longest, and for the most part on one core
    yield from (f"{RESULTS}/analyses/{name}.json" for name in ("sentences", "cka"))
    yield from (f"{RESULTS}/contextual/{name}.s1.json" for name in ("en.mono", "en.untrained"))
    for pair in PAIRS:
        yield from (f"{RESULTS}/contextual/{pair}.{name}.s1.json" for name in ("default", "untrained"))
        yield from (file for seed in (1, 2) for file in transfer(f"{pair}.default.s{seed}"))


def settings() -> Iterator[str]:
    """Yield what is left of Table 1: first all cells once, then the second seeds."""
    once = ["en-fr.extra-anchors", *(f"{pair}.{name}" for pair in PAIRS[1:] for name in (*TWICE, *ONCE))]
    once += [f"en-zh.untrained-{kind}" for kind in ("union", "prefixed", "separate")]
    yield from (f"!{file}" for name in once for file in transfer(f"{name}.s1"))
    yield from (file for pair in PAIRS[1:] for name in TWICE for file in transfer(f"{pair}.{name}.s2"))


if __name__ == "__main__":
    print(*{"analyses": analyses, "settings": settings}[sys.argv[1]](), sep="\n")
