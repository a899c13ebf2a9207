"""Convert the official files of a task to JSON lines, with words as in the pretraining text (section 3.2 of the paper).

python -m xling.tokenization.prepare_task nli --format xnli --input dev.tsv --language fr --tokeniser fr.json --out D
python -m xling.tokenization.prepare_task ner --format wikiann --input dev --language fr --tokeniser fr.json --out D
python -m xling.tokenization.prepare_task parsing --format conllu --input dev.conllu --language fr --out D

Sentences of NLI are raw text and are tokenised; with `xnli-mt-tokenised` they are words already. Words, like the gold
tokens of NER and parsing, are normalised one by one and never split: Moses would split the words `don 't` further.
Without --tokeniser, words are separated by white space.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from xling.core.errors import InputError, run
from xling.core.io import write_text
from xling.core.log import log_to_stderr
from xling.data.lines import Record
from xling.data.plausible import add_flags, plausible
from xling.data.tasks import read_conll2003, read_conllu, read_msra, read_wikiann, read_xnli, read_xnli_mt
from xling.tokenization.tokeniser import UNCHANGED, Tokeniser, tokeniser_from

SIDES = ("premise", "hypothesis")
Reader = Callable[[Path, argparse.Namespace, Counter[str]], Iterator[Record]]
READERS: dict[str, dict[str, Reader]] = {  # by task and format
    "nli": {
        "xnli": lambda path, flags, counts: read_xnli(path, flags.language, counts),
        "xnli-mt": lambda path, _, counts: read_xnli_mt(path, counts),
        "xnli-mt-tokenised": lambda path, _, counts: map(split_sides, read_xnli_mt(path, counts)),
    },
    "ner": {
        "wikiann": lambda path, flags, counts: read_wikiann(path, counts, flags.language),
        "conll2003": lambda path, *_: read_conll2003(path),
        "msra": lambda path, flags, counts: read_msra(path, tokeniser_from(flags.tokeniser, **UNCHANGED).words, counts),
    },
    "parsing": {"conllu": lambda path, *_: read_conllu(path)},
}


def split_sides(record: Record) -> Record:
    """Return a pair whose sentences are words separated by spaces as lists of words."""
    return record | {side: record[side].split() for side in SIDES}


def in_words(record: Record, tokeniser: Tokeniser, path: Path) -> Record:
    """Return an example with words as in the pretraining text: text is tokenised, words are only normalised."""
    keys = ("words",) if "words" in record else SIDES
    found = {key: normalised(record[key], tokeniser) for key in keys}
    for key, words in found.items():
        if not words:
            raise InputError(path, f"nothing left of {record[key]!r} after tokenising")
    return record | found


def normalised(text: str | list[str], tokeniser: Tokeniser) -> list[str]:
    """Return the words of a text, or words that are given, as the tokeniser writes them."""
    return tokeniser.words(text) if isinstance(text, str) else list(map(tokeniser.word, text))


def text_of(record: Record) -> str:
    """Return the text of an example (for NLI, the premise), for the check of its language."""
    return " ".join(record.get("words") or record["premise"])


def main() -> None:
    """Prepare one file of one task."""
    parser = argparse.ArgumentParser(description="Turn a task's official files into JSON lines.")
    tasks = parser.add_subparsers(dest="task", required=True)
    for task, formats in READERS.items():
        command = tasks.add_parser(task)
        command.add_argument("--format", choices=sorted(formats), required=True)
        command.add_argument("--input", type=Path, nargs="+", required=True, help="files, one after the other")
        command.add_argument("--language", required=True, help="code of the language, as the file has it")
        command.add_argument("--tokeniser", type=Path, metavar="FILE", help="JSON options of the language's tokeniser")
        command.add_argument("--out", type=Path, required=True)
        add_flags(command)
    args = parser.parse_args()
    read, tokeniser, counts = READERS[args.task][args.format], tokeniser_from(args.tokeniser), Counter[str]()
    written = 0
    with write_text(args.out, sealed=True) as handle:
        for path in args.input:
            records = (in_words(record, tokeniser, path) for record in read(path, args, counts))
            for record in plausible(path, records, args, text_of):
                handle.write(json.dumps(record, ensure_ascii=False) + "\n")
                written += 1
    told = "".join(f", {name}: {count}" for name, count in sorted(counts.items()))
    log_to_stderr(__name__).info("%s %s: %d examples%s", args.task, args.language, written, told)


if __name__ == "__main__":
    run(main)
