"""Print targets, those that come first with a `!`: python3 sittings.py analyses|settings|exposure|merges|web

1.tar.xz has French but for Default and Extra anchors, and all floors but three of Chinese. 2.tar.xz has `analyses`,
which need their models together, and some of Russian and Chinese. `settings` is all that is left of mini, the rest are
the controlled studies for claims 6c and 7a (presets/overlays/mini-*.yaml).
"""

import sys
from collections.abc import Iterator

RESULTS = "results/mini"
TWICE = ("no-anchors", "sep-emb", "sep-l1-3", "sep-l1-6", "sep-emb-l1-6")
ONCE = ("wiki-cc", "extra-anchors", "default-anchors", "sep-emb-l1-3")
IN_PART_2 = ("no-anchors", "sep-emb", "sep-l1-6")  # their first seeds
PAIRS = ("en-fr", "en-ru", "en-zh")
CONTROLS = {"exposure": ("cka", "sentences"), "merges": ("sentences",), "web": ("cka",)}


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
    once = [name for name in (*TWICE, *ONCE) if name not in IN_PART_2]
    encoders = ["en-fr.extra-anchors", *(f"{pair}.{name}" for pair in PAIRS[1:] for name in once)]
    yield from (f"!{file}" for name in encoders for file in transfer(f"{name}.s1"))
    yield from (file for pair in PAIRS[1:] for name in TWICE for file in transfer(f"{pair}.{name}.s2"))


def control(study: str) -> Iterator[str]:
    """Yield the analyses for which a study beside mini is made."""
    yield from (f"{RESULTS}-{study}/analyses/{name}.json" for name in CONTROLS[study])


if __name__ == "__main__":
    name = sys.argv[1]
    wanted = control(name) if name in CONTROLS else {"analyses": analyses, "settings": settings}[name]()
    print(*wanted, sep="\n")
