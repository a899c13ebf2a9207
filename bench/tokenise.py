"""Tokenising against plain sacremoses calls, encoding against sentencepiece's own: one core, real text, same output.

python bench/tokenise.py --out bench-tokenise.json [--lines 4000]
The real text is read from XLING_DATA (default ../shared/data). Every tokeniser starts with an empty cache.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import sentencepiece
from sacremoses import MosesPunctNormalizer, MosesTokenizer

from xling.bpe.build_vocabulary import write_vocabulary
from xling.bpe.train_bpe import count_words, fit, usable_words
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import XlingError, run
from xling.core.io import read_lines, write_json
from xling.tokenization.chinese import make_jieba
from xling.tokenization.moses import Moses, spaced

DATA = Path(os.environ.get("XLING_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
LANGUAGES = ("en", "fr", "de", "ru", "zh")
MERGES = 8000
Row = dict[str, Any]


def real_lines(language: str, number: int) -> list[str]:
    """Return so many lines of each real text of a language; Chinese is cut into words beforehand."""
    paths = sorted((DATA / "text").glob(f"*.{language}.txt.xz"))
    if not paths:
        raise XlingError(f"no text of {language} in {DATA / 'text'} (set XLING_DATA)")
    lines = [line for path in paths for line in islice(read_lines(path), number)]
    if language == "zh":
        segment = make_jieba(None)
        return [" ".join(segment(line)) for line in lines[:number]]
    return lines


def plain_sacremoses(language: str) -> Callable[[str], str]:
    """Return the peer: the calls that sacremoses' own documentation shows, with the options of this study."""
    normaliser = MosesPunctNormalizer(language, pre_replace_unicode_punct=True, post_remove_control_chars=True)
    tokeniser = MosesTokenizer(language)
    return lambda line: " ".join(tokeniser.tokenize(normaliser.normalize(spaced(line)), escape=False))


def timed(function: Callable[[str], Any], lines: Sequence[str]) -> tuple[float, list[Any]]:
    """Return the processor seconds that a function takes for the lines, and its results."""
    start = time.process_time()
    results = [function(line) for line in lines]
    return time.process_time() - start, results


def compare(
    name: str,
    ours: Callable[[str], Any],
    peer: Callable[[str], Any],
    lines: Sequence[str],
    as_peer: Callable[[Any], Any] = lambda result: result,
) -> Row:
    """Return both times; a line whose result, put in the peer's terms, differs ends the benchmark."""
    peer_seconds, expected = timed(peer, lines)
    seconds, results = timed(ours, lines)
    for line, result, wanted in zip(lines, results, expected, strict=True):
        if as_peer(result) != wanted:
            raise XlingError(f"{name}: different output for {line!r}")
    size = sum(len(line.encode()) for line in lines) / 1e6
    return {"name": name, "lines": len(lines), "MB": size, "ours_s": seconds, "peer_s": peer_seconds}


def compare_encoding(tokenised: dict[str, list[str]]) -> list[Row]:
    """Return a row a language for encoding through a union vocabulary, line by line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = {language: folder / f"{language}.model" for language in tokenised}
        for language, path in models.items():
            path.write_bytes(fit(usable_words(count_words(tokenised[language])), MERGES))
        write_vocabulary("union", models, folder / "vocab")
        vocabulary = Vocabulary.load(folder / "vocab")
        return [encoding_row(vocabulary, language, path, tokenised[language]) for language, path in models.items()]


def encoding_row(vocabulary: Vocabulary, language: str, model: Path, lines: Sequence[str]) -> Row:
    """Return the row of one language: our ids, turned back into sentencepiece's, are its own."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    back = {number: piece for piece, number in enumerate(vocabulary.ids(language).tolist())}
    return compare(
        f"encode {language}",
        lambda line: vocabulary.encode_line(language, line),
        processor.encode,
        lines,
        lambda ids: [back[number] for number in ids],
    )


def total(name: str, rows: Sequence[Row]) -> Row:
    """Return the sum of rows."""
    return {"name": name} | {key: sum(row[key] for row in rows) for key in ("lines", "MB", "ours_s", "peer_s")}


def show(rows: Sequence[Row]) -> None:
    """Print the table."""
    print(f"{'':16}{'lines':>8}{'MB':>8}{'ours MB/s':>11}{'peer MB/s':>11}{'ratio':>8}")
    for row in rows:
        ours, peer = row["MB"] / row["ours_s"], row["MB"] / row["peer_s"]
        print(f"{row['name']:16}{row['lines']:8}{row['MB']:8.1f}{ours:11.2f}{peer:11.2f}{row['ratio']:8.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=4000, help="lines of each real text")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    texts = {language: real_lines(language, args.lines) for language in LANGUAGES}
    rows = [compare(f"tokenise {code}", Moses(code).line, plain_sacremoses(code), texts[code]) for code in LANGUAGES]
    rows.append(total("tokenise but zh", rows[:-1]))  # sacremoses is so slow on Chinese that it would drown the rest
    tokenised = {code: list(filter(None, map(Moses(code, str.lower).line, texts[code]))) for code in ("en", "fr")}
    encoded = compare_encoding(tokenised)
    rows += [*encoded, total("encode all", encoded)]
    for row in rows:
        row["ratio"] = row["peer_s"] / row["ours_s"]
    show(rows)
    write_json(args.out, {"rows": rows, "same_output": True})


if __name__ == "__main__":
    run(main)
