"""Turn a task's official files into JSON lines in the words of the pretraining text (section 3.2 of the paper).

python -m xling.tokenization.prepare nli --format xnli --input dev.tsv --language fr --tokeniser '{…}' --out dev.jsonl
python -m xling.tokenization.prepare ner --format wikiann --input dev --language fr --tokeniser '{…}' --out dev.jsonl
python -m xling.tokenization.prepare parsing --format conllu --input dev.conllu --language fr --out dev.jsonl

Sentences of NLI are raw text and go through the whole tokeniser; gold tokens of NER and parsing are normalised one by
one and never split. Without --tokeniser, words are what stands between white space.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling.core.errors import InputError, run
from xling.core.io import write_text
from xling.core.log import log_to_stderr
from xling.data.conllu import Tree, read_conllu, universal
from xling.data.ner import NerSentence, read_conll2003, read_msra, read_wikiann
from xling.data.nli import NliExample, read_multinli, read_xnli, read_xnli_mt
from xling.tokenization.words import Words, segmenter_from, words_from

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """A raw file and what is needed to read it."""

    path: Path
    language: str
    options: str | None  # of the tokeniser, as JSON
    tokeniser: Words
    counts: Counter[str]


def nli_record(example: NliExample, source: Source) -> Record:
    """Return a sentence pair as words with its label."""
    premise, hypothesis = (source.tokeniser.words(text) for text in (example.premise, example.hypothesis))
    if not (premise and hypothesis):
        raise InputError(source.path, "nothing left of a sentence after tokenising", line=example.line)
    return {"premise": premise, "hypothesis": hypothesis, "label": example.label}


def ner_record(sentence: NerSentence, source: Source) -> Record:
    """Return tagged words."""
    return {"words": [source.tokeniser.word(word) for word in sentence.words], "tags": list(sentence.tags)}


def parsing_record(tree: Tree, source: Source) -> Record:
    """Return the words of a tree with heads, universal relations and parts of speech."""
    return {
        "words": [source.tokeniser.word(word) for word in tree.words],
        "heads": list(tree.heads),
        "deprels": [universal(deprel) for deprel in tree.deprels],
        "upos": list(tree.upos),
    }


READERS: dict[str, dict[str, Callable[[Source], Iterator[Record]]]] = {
    "nli": {
        "xnli": lambda s: (nli_record(one, s) for one in read_xnli(s.path, s.language, s.counts)),
        "xnli-mt": lambda s: (nli_record(one, s) for one in read_xnli_mt(s.path, s.counts)),
        "multinli": lambda s: (nli_record(one, s) for one in read_multinli(s.path, s.counts)),
    },
    "ner": {
        "wikiann": lambda s: (ner_record(one, s) for one in read_wikiann(s.path, s.counts, s.language)),
        "conll2003": lambda s: (ner_record(one, s) for one in read_conll2003(s.path)),
        "msra": lambda s: (ner_record(one, s) for one in read_msra(s.path, segmenter_from(s.options).words, s.counts)),
    },
    "parsing": {"conllu": lambda s: (parsing_record(one, s) for one in read_conllu(s.path))},
}


def write_records(path: Path, records: Iterable[Record]) -> int:
    """Write one JSON object a line and return how many."""
    count = 0
    with write_text(path) as handle:
        for record in records:
            handle.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
    return count


def main() -> None:
    """Prepare one file of one task."""
    args = parse_args()
    counts: Counter[str] = Counter()
    source = Source(args.input, args.language, args.tokeniser, words_from(args.tokeniser), counts)
    written = write_records(args.out, READERS[args.task][args.format](source))
    told = "".join(f", {name}: {count}" for name, count in sorted(counts.items()))
    log_to_stderr(__name__).info("%s %s: %d examples%s", args.task, args.language, written, told)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Turn a task's official files into JSON lines.")
    tasks = parser.add_subparsers(dest="task", required=True)
    for task, formats in READERS.items():
        command = tasks.add_parser(task)
        command.add_argument("--format", choices=sorted(formats), required=True)
        command.add_argument("--input", type=Path, required=True)
        command.add_argument("--language", required=True, help="code of the language, as the file has it")
        command.add_argument("--tokeniser", metavar="JSON", help="options of the language's tokeniser")
        command.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
