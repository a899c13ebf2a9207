"""Align the words of parallel sentences with eflomal in both directions; keep the one-to-one links (section 5.1.2).

    python -m xling.align.align_words --left en.txt --right fr.txt --out links.txt.zst

Both files have one sentence per line, with words separated by spaces. Each line of the result holds the links of one
sentence pair as `i-j`, where words are counted from 0. The alignments of the two directions are combined by
grow-diag-final-and (Koehn et al. 2005, as in Moses); only links whose two words have no other link are then kept.

eflomal (Ostling and Tiedemann 2016) is licensed under the GPL, version 3, so it runs as a separate program and only
this module calls it. It takes its seed from the operating system and has no option to set one. The build of
`make aligner` reads the seed from the file named by the environment variable SEED_FILE instead. Other builds ignore the
variable, and two runs of them differ in a few links; links are therefore computed once and kept.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

from xling.core.errors import InputError, XlingError, run
from xling.core.io import numbered_lines, read_lines, write_text
from xling.core.log import log_to_stderr
from xling.core.seeds import derive_seed
from xling.data.parallel import read_aligned

PROGRAM = "eflomal-align"
SEED_FILE = "XLING_EFLOMAL_SEED"  # environment variable with the path of the seed file
FIX = "`make aligner` installs it"
Link = tuple[int, int]  # word i of the source sentence and word j of the target sentence, counted from 0
Links = frozenset[Link]
# Neighbours in the order of the definition. The order matters: adding one link can rule out another.
NEIGHBOURS = ((0, -1), (-1, 0), (0, 1), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))


def find_program() -> str | None:
    """Return the path of the aligner, from the interpreter's folder or the search path, or None if there is none."""
    return shutil.which(PROGRAM, path=str(Path(sys.executable).parent)) or shutil.which(PROGRAM)


def align_words(left: Path, right: Path, seed: int = 1) -> Iterator[Links]:
    """Yield the symmetrised links of each sentence pair of two tokenised files."""
    lengths = [tuple(len(text.split()) for text in pair) for pair in read_aligned([left, right])]
    program = find_program()
    if program is None:
        raise XlingError(f"{PROGRAM}, the word aligner of Figures 5 and 8, is not installed ({FIX})")
    with tempfile.TemporaryDirectory() as name:
        files = {part: Path(name) / part for part in ("source", "target", "forward", "backward", "seed")}
        for path, copy in ((left, files["source"]), (right, files["target"])):
            with write_text(copy) as handle:  # the aligner needs uncompressed text, one space between words
                handle.writelines(" ".join(line.split()) + "\n" for line in read_lines(path))
        files["seed"].write_bytes(derive_seed("words", seed).to_bytes(8, "little"))  # the aligner's seed
        flags = {"-s": "source", "-t": "target", "-f": "forward", "-r": "backward"}
        command = [program, *(word for flag, part in flags.items() for word in (flag, str(files[part]))), "--overwrite"]
        given = os.environ | {SEED_FILE: str(files["seed"])}
        done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise XlingError(f"{PROGRAM} failed on {left} and {right} with exit code {done.returncode}: {said}")
        both = (read_links(files[direction], lengths) for direction in ("forward", "backward"))
        for forward, backward in zip(*both, strict=True):
            yield grow_diag_final_and(forward, backward)


def read_links(path: Path, lengths: Sequence[tuple[int, ...]]) -> Iterator[Links]:
    """Yield the links of each sentence pair from a file of lines such as `0-0 1-2`; `lengths` are in words."""
    number = 0
    for number, line in numbered_lines(path):
        if number > len(lengths):
            break
        source, target = lengths[number - 1]
        links = set()
        for link in line.split():
            left, _, right = link.partition("-")
            if not (left.isdecimal() and right.isdecimal()):
                raise InputError(path, f"{link!r} is not a link such as 0-1", line=number)
            if int(left) >= source or int(right) >= target:
                raise InputError(path, f"link {link}, but the sentences have {source} and {target} words", number)
            links.add((int(left), int(right)))
        yield frozenset(links)
    if number != len(lengths):
        count = f"more than {len(lengths)}" if number > len(lengths) else number
        raise InputError(path, f"{count} lines of links for {len(lengths)} sentences", fix="align the words again")


def grow_diag_final_and(forward: Links, backward: Links) -> Links:
    """Return the symmetrised links.

    `forward` links each target word to at most one source word, `backward` each source word to at most one target word;
    both hold (source, target). As in Moses, points are visited by target word, then source word, and the final step
    processes `forward` first.
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


def main() -> None:
    """Align two files and write the links."""
    args = parse_args()
    sentences = total = kept = 0
    with write_text(args.out, sealed=True) as handle:
        for links in align_words(args.left, args.right, args.seed):
            single = one_to_one(links)
            handle.write(" ".join(f"{source}-{target}" for source, target in sorted(single)) + "\n")
            sentences, total, kept = sentences + 1, total + len(links), kept + len(single)
    log_to_stderr(__name__).info("%d sentences: %d links, %d of them one-to-one", sentences, total, kept)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Align words with eflomal and keep the one-to-one links.")
    parser.add_argument("--left", type=Path, required=True, help="tokenised sentences, one per line")
    parser.add_argument("--right", type=Path, required=True, help="their translations, line by line")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
