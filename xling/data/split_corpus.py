"""Split a tokenised text into train, valid and test, and trim the train split if there is a limit on words.

    python -m xling.data.split_corpus --input tok.txt.zst --valid-lines 5000 --test-lines 5000 --seed 1 \\
        --out-dir DIR

Held-out lines (docs/choices.md): the text is cut into equal stretches, one per held-out line. One line is drawn from
each stretch, and the drawn lines are assigned to valid and test at random, so both are spread over the whole text.

Trimming (section 4.1: Wiki-CC should differ from Default in the domain of its text, not in its size): if there is a
limit, the train split is a random subset of the remaining lines with at most that many words. `--max-words-of` takes
the stats files of several texts and limits the whole corpus, held-out lines included, to the size of the smallest of
them. For a text in shards, join the names of the shards' stats files with colons.

The text is read three times. Only one line is in memory at a time or, with `--shuffle-seed`, one bucket of lines
(docs/choices.md).
"""

import argparse
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from xling.core.errors import InputError, run
from xling.core.io import read_json, read_lines, write_json, write_text
from xling.core.log import log_to_stderr, track
from xling.core.seeds import numpy_rng, python_rng

SPLITS = ("train", "valid", "test")
BUCKET_CHARACTERS = 1 << 26
MOST_BUCKETS = 200  # maximum number of open files; a larger text gets larger buckets


@dataclass(frozen=True)
class Plan:
    """Options of a split: `max_words` limits the train words, `corpus_words` the words of all three splits together."""

    valid: int
    test: int
    seed: int
    max_words: int | None = None
    corpus_words: int | None = None
    shuffle_seed: int | None = None


def draw_held_out(lines: int, valid: int, test: int, seed: int) -> dict[int, str]:
    """Return {line number from 0: "valid" or "test"}, with one line from each of valid + test equal stretches."""
    stretches = valid + test
    rng = numpy_rng("held out", seed)
    edges = [i * lines // stretches for i in range(stretches + 1)] if stretches else [0]
    drawn = rng.integers(edges[:-1], edges[1:])
    names = rng.permutation(["valid"] * valid + ["test"] * test)
    return {int(line): str(name) for line, name in zip(drawn, names, strict=True)}


def thin(lines: Iterable[str], total: int, budget: int, rng: Random) -> Iterator[str]:
    """Yield a random subset of lines with at most `budget` words; all lines together have `total` words.

    A line is taken with probability (words still wanted) / (words still to come). This ratio does not change on average
    from one line to the next, so every line is taken with probability budget / total, wherever it stands. The exception
    is a line with more words than are still wanted, which is skipped.
    """
    wanted, to_come = budget, total
    for line in lines:
        words = len(line.split())
        if words <= wanted and rng.random() * to_come < wanted:
            wanted -= words
            yield line
        to_come -= words


def shuffle(lines: Iterable[str], buckets: int, seed: int, folder: Path) -> Iterator[str]:
    """Yield the lines in a uniformly random order, with one bucket of lines in memory at a time."""
    rng = python_rng("shuffle buckets", seed)
    paths = [folder / f"{number}.txt" for number in range(buckets)]
    with ExitStack() as stack:
        handles = [stack.enter_context(path.open("wb", buffering=1 << 16)) for path in paths]
        for line in lines:
            handles[rng.randrange(buckets)].write(line.encode() + b"\n")
    for number, path in enumerate(paths):
        held = path.read_bytes().split(b"\n")[:-1]
        path.unlink()
        for position in numpy_rng("shuffle within", seed, number).permutation(len(held)):
            yield held[position].decode()


def split_corpus(shards: Sequence[Path], out: Path, plan: Plan) -> dict[str, object]:
    """Write the train, valid and test splits of a text, either all or none, and return their statistics."""
    text = shards[0]

    def lines() -> Iterator[str]:
        return (line for shard in shards for line in read_lines(shard))

    total = words = characters = 0
    for line in track(lines(), f"measuring {text.name}"):
        total, words, characters = total + 1, words + len(line.split()), characters + len(line)
    if total <= plan.valid + plan.test or not words:
        needed = f"too few to hold out {plan.valid} valid and {plan.test} test lines and leave some for training"
        found = f"{total} lines with {words} words"
        raise InputError(text, f"{found}, {needed}", fix="give more text or hold out fewer lines")
    held = draw_held_out(total, plan.valid, plan.test, plan.seed)
    with ExitStack() as stack:
        handles = {name: stack.enter_context(write_text(out / f"{name}.txt.zst")) for name in SPLITS}
        counts = {name: {"lines": 0, "words": 0} for name in SPLITS}

        def write(split: str, line: str) -> None:
            handles[split].write(f"{line}\n")
            counts[split]["lines"] += 1
            counts[split]["words"] += len(line.split())

        for number, line in enumerate(lines()):
            if number in held:
                write(held[number], line)
        held_words = counts["valid"]["words"] + counts["test"]["words"]
        budget = plan.max_words if plan.corpus_words is None else plan.corpus_words - held_words
        train: Iterator[str] = (line for number, line in enumerate(lines()) if number not in held)
        if budget is not None:
            train = thin(train, words - held_words, budget, python_rng("trim", plan.seed))
        if plan.shuffle_seed is not None:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix=".shuffle.", dir=out)))
            buckets = min(max(1, math.ceil(characters / BUCKET_CHARACTERS)), MOST_BUCKETS)
            train = shuffle(train, buckets, plan.shuffle_seed, folder)
        for line in track(train, f"splitting {text.name}"):
            write("train", line)
        if not counts["train"]["words"]:
            room = "" if budget is None else f", and the limit leaves room for {max(budget, 0)}"
            problem = f"the train split would be empty: {held_words} of {words} words are in held-out lines{room}"
            raise InputError(text, problem, fix="raise the limit or hold out fewer lines")
    return {"lines": total, "words": words, "train_words_wanted": budget, **asdict(plan), "splits": counts}


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 up, found {text!r}")
    return int(text)


def main() -> None:
    """Split one text as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, nargs="+", required=True, help="tokenised text, its shards in order")
    parser.add_argument("--valid-lines", type=_natural, default=5000)
    parser.add_argument("--test-lines", type=_natural, default=5000)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--max-words", type=_natural, help="maximum number of train words (default: no limit)")
    smallest = "limit the corpus to the size of the smallest of these texts"
    size.add_argument("--max-words-of", nargs="+", metavar="STATS[:STATS]", help=smallest)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--shuffle-seed", type=int, help="shuffle the train lines (default: keep their order)")
    parser.add_argument("--out-dir", type=Path, required=True)
    args = parser.parse_args()
    texts = [text.split(os.pathsep) for text in args.max_words_of or ()]  # the stats files of each text's shards
    corpus_words = min((sum(int(read_json(Path(path))["words"]) for path in text) for text in texts), default=None)
    plan = Plan(args.valid_lines, args.test_lines, args.seed, args.max_words, corpus_words, args.shuffle_seed)
    stats = split_corpus(args.input, args.out_dir, plan)
    write_json(args.out_dir / "stats.json", stats)
    log_to_stderr(__name__).info("%s: %s", args.input[0], stats["splits"])


if __name__ == "__main__":
    run(main)
