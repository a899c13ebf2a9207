"""Contextual transfer from one source encoder: every layer, task and target language that it is asked for.

python -m xling.align.contextual_run --name en.mono.s1 --encoder en=DIR --encoder fr=DIR --vocab en=DIR --vocab fr=DIR \
    --parallel en=en.txt --parallel fr=fr.txt --links fr=links.txt.zst --ways aligned --options '{…}' \
    --biaffine '{…}' --data '{"ner.wikiann": {"task": "ner", "train": …, "dev": …, "test": {"en": …, "fr": …}}}' \
    --seed 1 --work-below DIR --config-hash H --out result.json

The first language is the source. A folder may stand for several languages: one bilingual encoder. --untrained needs
run.json alone and draws the weights that training would have begun with: the floor. A killed job goes on from its last
finished epoch: its folder below --work-below is named by everything that decides the result.
"""

import argparse
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from xling.align.contextual import DataSet, Job, Language, describe, run_job
from xling.align.contextual_options import check_layers, parse_options
from xling.align.frozen import Reader
from xling.align.wordpairs import read_links, read_sentences
from xling.bpe.vocabulary import Vocabulary
from xling.core.cli import named_paths
from xling.core.errors import XlingError, run
from xling.core.io import sha256_of, write_json
from xling.core.log import log_to_stderr
from xling.core.records import read_record
from xling.finetune.data import Example
from xling.finetune.run import language_index, open_encoder, read_set
from xling.finetune.settings import BiaffineSizes
from xling.finetune.task import Task
from xling.finetune.tasks import make_task
from xling.finetune.windows import Speller
from xling.model.encoder import Encoder
from xling.pretrain.config import read_run
from xling.pretrain.lock import Lock
from xling.pretrain.run import remove
from xling.pretrain.workers import local_device

Read = Callable[[str, Task, str], list[Example]]


def open_readers(args: argparse.Namespace) -> tuple[dict[str, Reader], dict[str, Speller]]:
    """Return each language's frozen encoder and how its words are spelled for it; a folder is opened once."""
    runs = {code: read_run(folder / "run.json") for code, folder in args.encoder.items()}
    longest = min(described.pretrain.length for described in runs.values())
    opened: dict[Path, Encoder] = {}
    readers, spellers = {}, {}
    for code, folder in args.encoder.items():
        vocabulary, described = Vocabulary.load(args.vocab[code]), runs[code]
        if folder not in opened:
            encoder = open_encoder(folder, described, vocabulary, described.seed if args.untrained else None)
            opened[folder] = encoder.requires_grad_(False).to(local_device(args.device))
        readers[code] = Reader(opened[folder], language_index(described, code, "--encoder"))
        spellers[code] = Speller(vocabulary, code, longest)
    return readers, spellers


def read_languages(
    args: argparse.Namespace, readers: Mapping[str, Reader], spellers: Mapping[str, Speller]
) -> dict[str, Language]:
    """Return every language with its parallel sentences, and their links with the first language's."""
    sentences = {code: read_sentences(args.parallel[code], spellers[code]) for code in readers}
    english, *others = readers
    links = {code: read_links(args.links[code], sentences[english], sentences[code]) for code in others}
    return {code: Language(readers[code], sentences[code], links.get(code)) for code in readers}


def read_data(args: argparse.Namespace, spellers: Mapping[str, Speller]) -> list[DataSet]:
    """Read the data sets of all tasks; training and dev sets are in the first language."""
    english, biaffine = next(iter(spellers)), read_record(BiaffineSizes, args.biaffine, "--biaffine")

    def read(path: str, task: Task, code: str) -> list[Example]:
        return read_set(Path(path), task, spellers[code].vocabulary, code, spellers[code].limit)

    sets = []
    for name, about in args.data.items():
        task = make_task(about["task"], biaffine)
        tests = {code: read(path, task, code) for code, path in about["test"].items()}
        train, dev = (read(about[split], task, english) for split in ("train", "dev"))
        sets.append(DataSet(name, task, train, dev, tests))
    return sets


def input_files(args: argparse.Namespace) -> list[Path]:
    """Return every file whose content decides the result."""
    models = [folder / "run.json" for folder in args.encoder.values()]
    models += [] if args.untrained else [folder / "model.safetensors" for folder in args.encoder.values()]
    vocabularies = [path for folder in args.vocab.values() for path in sorted(folder.iterdir())]
    texts = [*args.parallel.values(), *args.links.values()]
    tasks = [Path(p) for about in args.data.values() for p in (about["train"], about["dev"], *about["test"].values())]
    return [*models, *vocabularies, *texts, *tasks]


def choose_work(args: argparse.Namespace) -> Path:
    """Return the folder of this job below another: named by what decides its result, so no other job resumes it."""
    given = {key: getattr(args, key) for key in ("options", "biaffine", "ways", "untrained", "seed", "config_hash")}
    data = {name: [about["task"], list(about["test"])] for name, about in args.data.items()}
    read = [sha256_of(path) for path in input_files(args)]
    decides = json.dumps({**given, "data": data, "languages": list(args.encoder), "inputs": read}, sort_keys=True)
    work: Path = args.work_below / f"contextual-{args.name}-{hashlib.sha256(decides.encode()).hexdigest()[:16]}"
    return work


def transfer(args: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Return the result of a job."""
    options = parse_options(args.options, "--options")
    readers, spellers = open_readers(args)
    check_layers(options, {code: reader.encoder.config.shape for code, reader in readers.items()})
    languages, data = read_languages(args, readers, spellers), read_data(args, spellers)
    longest = next(iter(spellers.values())).limit
    job = Job(args.name, languages, data, args.ways, options, longest, args.seed)
    models = {code: read_run(folder / "run.json").model for code, folder in args.encoder.items()}
    about = {"model": args.name, "models": models, "untrained": args.untrained, "config": args.config_hash}
    return {**about, **describe(job), "torch": torch.__version__, "trainings": run_job(job, work)}


def main() -> None:
    """Run a job and write its result."""
    args = parse_args()
    if local_device(args.device).type == "cpu":
        torch.set_num_threads(1)  # as in fine-tuning: two processes of one thread beat one of two on small models
    work = choose_work(args)
    with Lock(work, args.wait_for_lock) as lock:
        result = transfer(args, work)
        write_json(args.out, result)
        remove(work, lock)  # or a forced rerun would only find the old scores
    for done in result["trainings"]:
        told = ", ".join(f"{code} {found['score']:.2f}" for code, found in done["scores"].items())
        log_to_stderr(__name__).info("%s layer %d %s: %s", done["data"], done["layer"], done["way"], told)


def check_flags(args: argparse.Namespace) -> None:
    """Refuse languages that some flag leaves out or that no encoder reads."""
    english, *others = args.encoder
    asked = {code for about in args.data.values() for code in about["test"]}
    if not others:
        raise XlingError("--encoder: expected the source language and at least one other")
    for flag, given, wanted in (
        ("--vocab", args.vocab, {english, *others}),
        ("--parallel", args.parallel, {english, *others}),
        ("--links", args.links, set(others)),
    ):
        if set(given) != wanted:
            raise XlingError(f"{flag}: expected {', '.join(sorted(wanted))}, found {', '.join(sorted(given))}")
    if not asked <= {english, *others}:
        raise XlingError(f"--data: no encoder reads {', '.join(sorted(asked - {english, *others}))}")


def parse_args(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", required=True, help="what the result is of")
    for flag, what in (
        ("--encoder", "folder of a model that reads the language, the source language first"),
        ("--vocab", "vocabulary directory"),
        ("--parallel", "tokenised sentences, line by line the same"),
        ("--links", "links of the source language's words with this language's"),
    ):
        parser.add_argument(flag, action="append", required=True, metavar="LANGUAGE=PATH", help=what)
    parser.add_argument("--untrained", action="store_true", help="draw every encoder's weights instead")
    parser.add_argument("--ways", nargs="+", choices=["aligned", "plain"], required=True, help="how states are shown")
    parser.add_argument("--options", type=json.loads, required=True, metavar="JSON", help="task layers and training")
    parser.add_argument("--biaffine", type=json.loads, required=True, metavar="JSON", help="sizes of the parser")
    parser.add_argument("--data", type=json.loads, required=True, metavar="JSON", help="data sets by name")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--work-below", type=Path, required=True, help="where to keep what a killed job goes on from")
    parser.add_argument("--config-hash", default="", help="what the result belongs to")
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--wait-for-lock", action="store_true", help="wait while another process runs this job")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(arguments)
    for name in ("encoder", "vocab", "parallel", "links"):
        setattr(args, name, named_paths(getattr(args, name), f"--{name}"))
    check_flags(args)
    return args


if __name__ == "__main__":
    run(main)
