"""Align the words of parallel sentences with eflomal, both directions, and keep the one-to-one links (section 5.1.2).

    python -m xling.align.align_words --left en.txt --right fr.txt --out links.txt.zst

Both files have one sentence per line, its words between spaces. Every line of the result has the links of one sentence
as `i-j`, words counted from 0: grow-diag-final-and, then those whose two words have no other link.

eflomal (Ostling and Tiedemann 2016) is under the GPL, version 3: it is run as a program of its own, is needed by
nothing else, and this module alone knows of it. It draws its seed from the system and offers no way to set one; as
`make aligner` builds it, it reads the file that SEED_FILE names instead. Any other build ignores that, and two runs of
it differ in a few links; links are therefore made once and kept.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from xling.align.symmetrise import Links, format_links, grow_diag_final_and, one_to_one, read_links
from xling.core.errors import XlingError, run
from xling.core.io import read_lines, write_text
from xling.core.log import log_to_stderr
from xling.core.seeds import derive_seed
from xling.data.parallel import read_aligned

PROGRAM = "eflomal-align"
SEED_FILE = "XLING_EFLOMAL_SEED"  # the variable that names the file
FIX = "`make aligner` installs it"


def find_program() -> str | None:
    """Return the path of the aligner, beside this interpreter or on the search path, or None."""
    return shutil.which(PROGRAM, path=str(Path(sys.executable).parent)) or shutil.which(PROGRAM)


def align_words(left: Path, right: Path, seed: int = 1) -> Iterator[Links]:
    """Yield the symmetrised links of each sentence pair of two tokenised files."""
    lengths = [tuple(len(text.split()) for text in pair) for pair in read_aligned([left, right])]
    with tempfile.TemporaryDirectory() as folder:
        forward, backward = _run(left, right, Path(folder), seed)
        for one, other in zip(read_links(forward, lengths), read_links(backward, lengths), strict=True):
            yield grow_diag_final_and(one, other)


def _run(left: Path, right: Path, folder: Path, seed: int = 1) -> tuple[Path, Path]:
    program = find_program()
    if program is None:
        raise XlingError(f"{PROGRAM}, the word aligner of Figures 5 and 8, is not installed ({FIX})")
    plain = [_plain(path, folder / name) for path, name in ((left, "left"), (right, "right"))]
    outputs = folder / "forward", folder / "backward"
    command = [program, "-s", *plain[:1], "-t", *plain[1:], "-f", outputs[0], "-r", outputs[1], "--overwrite"]
    (folder / "seed").write_bytes(derive_seed("words", seed).to_bytes(8, "little"))  # what its generator starts from
    given = os.environ | {SEED_FILE: str(folder / "seed")}
    done = subprocess.run(list(map(str, command)), env=given, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise XlingError(f"{PROGRAM} failed on {left} and {right} with exit code {done.returncode}: {said}")
    return outputs


def _plain(path: Path, copy: Path) -> Path:
    """Write the lines uncompressed, with one space between words, which is what the aligner reads."""
    with write_text(copy) as handle:
        handle.writelines(" ".join(line.split()) + "\n" for line in read_lines(path))
    return copy


def main() -> None:
    """Align two files and write the links."""
    args = parse_args()
    sentences = total = kept = 0
    with write_text(args.out) as handle:
        for links in align_words(args.left, args.right, args.seed):
            single = one_to_one(links)
            handle.write(format_links(single) + "\n")
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
