"""Turn a task's official files into JSON lines in the words of the pretraining text (section 3.2 of the paper).

python -m xling.tokenization.prepare_task nli --format xnli --input dev.tsv --language fr --tokeniser fr.json --out D
python -m xling.tokenization.prepare_task ner --format wikiann --input dev --language fr --tokeniser fr.json --out D
python -m xling.tokenization.prepare_task parsing --format conllu --input dev.conllu --language fr --out D

Sentences of NLI are raw text and go through the whole tokeniser; gold tokens of NER and parsing are normalised one by
one and never split. Without --tokeniser, words are separated by white space.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from xling.core.errors import InputError, run
from xling.core.io import write_text
from xling.core.log import log_to_stderr
from xling.data.conllu import Tree, read_conllu, universal
from xling.data.ner import NerSentence, read_conll2003, read_msra, read_wikiann
from xling.data.nli import NliExample, read_xnli, read_xnli_mt
from xling.tokenization.tokeniser import Tokeniser, segmenter_from, tokeniser_from

Record = dict[str, Any]
Reader = Callable[[Path, argparse.Namespace, Counter[str]], Iterator[Any]]


def nli_records(examples: Iterator[NliExample], tokeniser: Tokeniser, path: Path) -> Iterator[Record]:
    """Yield sentence pairs as words with their labels."""
    for example in examples:
        premise, hypothesis = (tokeniser.words(text) for text in (example.premise, example.hypothesis))
        if not (premise and hypothesis):
            raise InputError(path, "nothing left of a sentence after tokenising", line=example.line)
        yield {"premise": premise, "hypothesis": hypothesis, "label": example.label}


def ner_records(sentences: Iterator[NerSentence], tokeniser: Tokeniser, _: Path) -> Iterator[Record]:
    """Yield tagged words."""
    for sentence in sentences:
        yield {"words": [tokeniser.word(word) for word in sentence.words], "tags": list(sentence.tags)}


def parsing_records(trees: Iterator[Tree], tokeniser: Tokeniser, _: Path) -> Iterator[Record]:
    """Yield the words of trees with heads, universal relations and parts of speech."""
    for tree in trees:
        yield {
            "words": [tokeniser.word(word) for word in tree.words],
            "heads": list(tree.heads),
            "deprels": [universal(deprel) for deprel in tree.deprels],
            "upos": list(tree.upos),
        }


# By task: how its records are made, and how each format is read, from the flags of the command.
TASKS: dict[str, tuple[Callable[..., Iterator[Record]], dict[str, Reader]]] = {
    "nli": (nli_records, {
        "xnli": lambda path, flags, counts: read_xnli(path, flags.language, counts),
        "xnli-mt": lambda path, _, counts: read_xnli_mt(path, counts),
    }),
    "ner": (ner_records, {
        "wikiann": lambda path, flags, counts: read_wikiann(path, counts, flags.language),
        "conll2003": lambda path, *_: read_conll2003(path),
        "msra": lambda path, flags, counts: read_msra(path, segmenter_from(flags.tokeniser).words, counts),
    }),
    "parsing": (parsing_records, {"conllu": lambda path, *_: read_conllu(path)}),
}  # fmt: skip


def main() -> None:
    """Prepare one file of one task."""
    parser = argparse.ArgumentParser(description="Turn a task's official files into JSON lines.")
    tasks = parser.add_subparsers(dest="task", required=True)
    for task, (_, formats) in TASKS.items():
        command = tasks.add_parser(task)
        command.add_argument("--format", choices=sorted(formats), required=True)
        command.add_argument("--input", type=Path, nargs="+", required=True, help="files, one after the other")
        command.add_argument("--language", required=True, help="code of the language, as the file has it")
        command.add_argument("--tokeniser", type=Path, metavar="FILE", help="JSON options of the language's tokeniser")
        command.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    (make, formats), tokeniser, counts, written = TASKS[args.task], tokeniser_from(args.tokeniser), Counter[str](), 0
    with write_text(args.out, sealed=True) as handle:
        for path in args.input:
            for record in make(formats[args.format](path, args, counts), tokeniser, path):
                handle.write(json.dumps(record, ensure_ascii=False) + "\n")
                written += 1
    told = "".join(f", {name}: {count}" for name, count in sorted(counts.items()))
    log_to_stderr(__name__).info("%s %s: %d examples%s", args.task, args.language, written, told)


if __name__ == "__main__":
    run(main)
