"""Binarise a large text: peak memory of the whole process tree, and speed against sentencepiece's own encode.

    python bench/binarise.py --megabytes 2048 --processes 2 --out binarise.json

The text is real (XLING_DATA) or made up, its lines in random order again and again, with a new number in each line so
that distinct words never stop coming. Needs psutil.
"""

import argparse
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import psutil
import sentencepiece

from xling.bpe.encode_text import CHUNK_CHARACTERS, chunk_lines, encode_chunk, load_pieces
from xling.core.io import read_json, write_json, write_text
from xling.core.seeds import python_rng

LIMIT_MEGABYTES = 1024
REPOSITORY = Path(__file__).resolve().parent.parent
REAL_TEXT = Path(os.environ.get("XLING_DATA", REPOSITORY.parent / "shared" / "data")) / "text" / "wiki.en.txt.xz"


def base_lines(number: int = 40_000) -> list[str]:
    """Return real lines with words and punctuation apart, or made-up ones."""
    if not REAL_TEXT.is_file():
        rng = python_rng("binarise")
        words = ["".join(rng.choices("abcdefghijklmnoprstuvwyz", k=rng.randrange(1, 12))) for _ in range(100_000)]
        return [" ".join(words[int(100_000 ** rng.random()) - 1] for _ in range(70)) for _ in range(number)]
    with lzma.open(REAL_TEXT, "rt", encoding="utf-8") as handle:
        return [" ".join(re.findall(r"\w+|[^\w\s]", line.lower())) for line in islice(handle, number)]


def write_large_text(path: Path, lines: list[str], megabytes: int) -> None:
    """Write the lines in ever new orders until the text has its size."""
    rng, left = python_rng("binarise", "order"), megabytes * 1_000_000
    with write_text(path) as handle:
        while left > 0:
            line = f"{lines[rng.randrange(len(lines))]} {rng.getrandbits(40)}\n"
            left -= len(line.encode())
            handle.write(line)


def write_vocabulary(folder: Path, lines: list[str]) -> Path:
    """Train a small model and lay it out as the vocabulary stage does."""
    folder.mkdir()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines[:10_000]), model_prefix=str(folder / "en"), model_type="bpe", vocab_size=10_000,
        pad_id=0, unk_id=1, eos_id=2, bos_id=-1, control_symbols=["<mask>"], minloglevel=2,
        normalization_rule_name="identity",
    )  # fmt: skip
    np.save(folder / "en.ids.npy", np.arange(10_000, dtype=np.int32))
    language = {"model": "en.model", "ids": "en.ids.npy", "size": 10_000}
    about = {"kind": "mono", "languages": {"en": language}, "size": 10_000, "pieces": "pieces.txt"}
    (folder / "vocab.json").write_text(json.dumps(about))
    return folder


def peak_of_tree(command: list[str]) -> tuple[float, float]:
    """Run a command and return its seconds and the peak resident megabytes of it and its children together."""
    start, peak = time.monotonic(), 0
    with subprocess.Popen(command, cwd=REPOSITORY) as process:
        tree = psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, resident(tree))
            time.sleep(0.05)
    if process.returncode:
        sys.exit(f"encoding failed with exit code {process.returncode}")
    return time.monotonic() - start, peak / 1e6


def resident(tree: psutil.Process) -> int:
    """Return the resident bytes of a process and its children; one that has just ended counts nothing."""
    total = 0
    try:
        for process in [tree, *tree.children(recursive=True)]:
            total += process.memory_info().rss
    except psutil.NoSuchProcess:
        pass
    return total


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def against_sentencepiece(vocab: Path, lines: list[str]) -> tuple[float, float]:
    """Return megabytes a second of one process here and of sentencepiece's own encode, on the same lines."""
    load_pieces(vocab, "en")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(vocab / "en.model"))
    size = sum(len(line.encode()) for line in lines) / 1e6
    chunks = list(chunk_lines(lines, CHUNK_CHARACTERS))
    ours = cpu_seconds(lambda: [encode_chunk(vocab, "en", False, chunk) for chunk in chunks])
    theirs = cpu_seconds(lambda: processor.encode(lines, out_type=int, num_threads=1))
    return size / ours, size / theirs


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=2048)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, lines = Path(name), base_lines()
        vocab = write_vocabulary(folder / "vocab", lines)
        write_large_text(folder / "text.txt.zst", lines, args.megabytes)
        command = [sys.executable, "-m", "xling.bpe.encode_text", "--vocab", str(vocab), "--language", "en"]
        command += ["--split", f"train={folder / 'text.txt.zst'}", "--out", str(folder / "streams")]
        seconds, peak = peak_of_tree([*command, "--processes", str(args.processes)])
        tokens = read_json(folder / "streams" / "meta.json")["splits"]["train"]["tokens"]
        ours, theirs = against_sentencepiece(vocab, lines)
    result = {
        "text_megabytes": args.megabytes,
        "processes": args.processes,
        "tokens": tokens,
        "tokens_per_second": round(tokens / seconds),
        "peak_resident_megabytes": round(peak),
        "limit_megabytes": LIMIT_MEGABYTES,
        "one_core_megabytes_per_second": round(ours, 2),
        "sentencepiece_megabytes_per_second": round(theirs, 2),
        "ratio_to_sentencepiece": round(ours / theirs, 2),
    }
    write_json(args.out, result)
    print("\n".join(f"{key.replace('_', ' '):36}{value:>14,}" for key, value in result.items()))
    if peak > LIMIT_MEGABYTES:
        sys.exit(f"peak of {peak:.0f} MB is above {LIMIT_MEGABYTES} MB")


if __name__ == "__main__":
    main()
