"""Contextual transfer from one source encoder: every layer, task and target language of a plan (section 5.1.2).

    python -m xling.align.transfer_contextual --plan plan.json --work-below DIR --out result.json

The plan is {"name": "en.mono.s1", "source": "en", "languages": {"en": {"encoder": DIR, "vocab": DIR, "parallel": FILE},
"fr": {…, "links": FILE}}, "untrained": false, "ways": ["aligned"], "options": {…}, "biaffine": {…}, "seed": 1,
"config": HASH, "data": {"ner.wikiann": {"task": "ner", "train": FILE, "dev": FILE, "test": {"en": FILE, "fr": FILE}}}}.

A folder may stand for several languages: one bilingual encoder. Untrained encoders need run.json alone and are
initialised with the weights that training began with: the floor. A killed job goes on from its last finished epoch: its
folder below --work-below is named by everything that decides the result.
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import torch

from xling.align.contextual import DataSet, Job, Language, Way, describe, run_job
from xling.align.contextual_options import Options, check_layers
from xling.align.frozen import Reader, read_linked, read_sentences
from xling.align.plan import plan_parser
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import run
from xling.core.io import read_json, sha256_of, write_json
from xling.core.lock import Lock
from xling.core.log import log_to_stderr
from xling.core.records import Flag, Size, read_record, record, refuse
from xling.core.results import hashed
from xling.finetune.data import Example, Speller
from xling.finetune.settings import BiaffineSizes
from xling.finetune.tasks import Task, make_task, read_set
from xling.model.device import local_device, use_one_thread
from xling.model.encoder import Encoder
from xling.pretrain.config import read_run
from xling.pretrain.trained import language_index, open_encoder

Content = dict[str, Any]


@record
class ReadLanguage:
    """Where a language's encoder, vocabulary and parallel sentences are, and their links with the source's."""

    encoder: Path
    vocab: Path
    parallel: Path
    links: Path | None = None


@record
class TaskFiles:
    """A task's data: training and dev set in the source language, test sets by language."""

    task: Literal["xnli", "ner", "parsing", "pos"]
    train: Path
    dev: Path
    test: dict[str, Path]


@record
class Plan:
    """All that a job reads and does; `config` is what the result belongs to."""

    name: str
    source: str
    languages: dict[str, ReadLanguage]
    untrained: Flag
    ways: tuple[Way, ...]
    options: Options
    biaffine: BiaffineSizes
    data: dict[str, TaskFiles]
    seed: Size
    config: str

    def __post_init__(self) -> None:
        refuse(self._problems())

    def _problems(self) -> Iterator[str]:
        if self.source not in self.languages or len(self.languages) < 2:
            yield f"languages: expected {self.source} and at least one other"
        for code, own in self.languages.items():
            if code != self.source and own.links is None:
                yield f"languages.{code}.links: missing key"
        for name, about in self.data.items():
            if unread := sorted(set(about.test) - set(self.languages)):
                yield f"data.{name}.test: no encoder reads {', '.join(unread)}"


def read_transfer_plan(path: Path) -> Content:
    """Return the plan of a job with its languages in order, the source first."""
    values: Content = read_json(path)
    source = read_record(Plan, values, path).source
    own = values["languages"]
    return values | {"languages": {source: own[source]} | own}


def open_readers(plan: Content, device: torch.device) -> tuple[dict[str, Reader], dict[str, Speller]]:
    """Return each language's frozen encoder and how its words are spelled for it; a folder is opened once."""
    folders = {code: Path(own["encoder"]) for code, own in plan["languages"].items()}
    runs = {code: read_run(folder / "run.json") for code, folder in folders.items()}
    longest = min(described.pretrain.length for described in runs.values())
    opened: dict[Path, Encoder] = {}
    readers, spellers = {}, {}
    for code, folder in folders.items():
        vocabulary, described = Vocabulary.load(Path(plan["languages"][code]["vocab"])), runs[code]
        if folder not in opened:
            encoder = open_encoder(folder, described, vocabulary, described.seed if plan["untrained"] else None)
            opened[folder] = encoder.requires_grad_(False).to(device)
        readers[code] = Reader(opened[folder], language_index(described, code, "languages"))
        spellers[code] = Speller(vocabulary, code, longest)
    return readers, spellers


def read_languages(
    plan: Content, readers: Mapping[str, Reader], spellers: Mapping[str, Speller]
) -> dict[str, Language]:
    """Return every language with its parallel sentences, and their links with the source language's."""
    files, (source, *others) = plan["languages"], readers
    sentences = {code: read_sentences(Path(files[code]["parallel"]), spellers[code]) for code in readers}
    links = {code: read_linked(Path(files[code]["links"]), sentences[source], sentences[code]) for code in others}
    return {code: Language(readers[code], sentences[code], links.get(code)) for code in readers}


def read_data(plan: Content, spellers: Mapping[str, Speller], biaffine: BiaffineSizes) -> list[DataSet]:
    """Read the data sets of all tasks; training and dev sets are in the source language."""

    def read(path: str, task: Task, code: str) -> list[Example]:
        return read_set(Path(path), task, spellers[code].vocabulary, code, spellers[code].limit)

    sets = []
    for name, about in plan["data"].items():
        task = make_task(about["task"], biaffine)
        tests = {code: read(path, task, code) for code, path in about["test"].items()}
        train, dev = (read(about[split], task, plan["source"]) for split in ("train", "dev"))
        sets.append(DataSet(name, task, train, dev, tests))
    return sets


def choose_work(plan: Content, below: Path) -> Path:
    """Return the folder of this job below another: named by what decides its result, so no other job resumes it."""
    read: list[Path] = []
    for own in plan["languages"].values():
        parts = ["run.json"] if plan["untrained"] else ["run.json", "model.safetensors"]
        read += [*(Path(own["encoder"]) / part for part in parts), *sorted(Path(own["vocab"]).iterdir())]
        read += [Path(own[key]) for key in ("parallel", "links") if key in own]
    for about in plan["data"].values():
        read += map(Path, (about["train"], about["dev"], *about["test"].values()))
    given = {key: plan[key] for key in ("options", "biaffine", "ways", "untrained", "seed", "config")}
    data = {name: [about["task"], list(about["test"])] for name, about in plan["data"].items()}
    known = {"data": data, "languages": list(plan["languages"])}
    decides = given | known | {"inputs": [sha256_of(path) for path in read]}
    return below / f"contextual-{plan['name']}-{hashed(decides)}"


def transfer(args: argparse.Namespace, plan: Content, work: Path) -> Content:
    """Return the result of a job."""
    options = read_record(Options, plan["options"], f"{args.plan}: options")
    readers, spellers = open_readers(plan, local_device(args.device))
    check_layers(options, {code: reader.encoder.config.shape for code, reader in readers.items()})
    biaffine = read_record(BiaffineSizes, plan["biaffine"], f"{args.plan}: biaffine")
    languages, data = read_languages(plan, readers, spellers), read_data(plan, spellers, biaffine)
    longest = next(iter(spellers.values())).limit
    job = Job(plan["name"], languages, data, plan["ways"], options, longest, plan["seed"])
    models = {code: read_run(Path(own["encoder"]) / "run.json").model for code, own in plan["languages"].items()}
    about = {"model": plan["name"], "models": models, "untrained": plan["untrained"], "config": plan["config"]}
    return {**about, **describe(job), "torch": torch.__version__, "trainings": run_job(job, work)}


def main() -> None:
    """Run a job and write its result."""
    args = parse_args()
    use_one_thread(local_device(args.device))
    plan = read_transfer_plan(args.plan)
    work = choose_work(plan, args.work_below)
    with Lock(work, args.wait_for_lock) as lock:
        result = transfer(args, plan, work)
        write_json(args.out, result)
        lock.remove_folder()  # or a forced rerun would only find the old scores
    for done in result["trainings"]:
        scores = ", ".join(f"{code} {found['score']:.2f}" for code, found in done["scores"].items())
        log_to_stderr(__name__).info("%s layer %d %s: %s", done["data"], done["layer"], done["way"], scores)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = plan_parser(__doc__)
    parser.add_argument("--work-below", type=Path, required=True, help="where to keep what a killed job goes on from")
    parser.add_argument("--wait-for-lock", action="store_true", help="wait while another process runs this job")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
