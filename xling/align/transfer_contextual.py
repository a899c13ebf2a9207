"""Zero-shot transfer with word representations in context, from frozen encoders that are aligned (section 5.1.2).

    python -m xling.align.transfer_contextual --plan plan.json --work-root DIR --out result.json

A plan (below) covers one source encoder and its target languages. For every encoder layer, data set and treatment of
the hidden states, task layers are trained on the source language,
the epoch with the best score on the dev set is kept, and every language is tested (Figures 5 and 8). The treatments
(`ways`) are `aligned` (all states are normalised, and the states of other languages are mapped onto the source states)
and `plain` (states are left unchanged, which makes sense if one encoder reads both languages).

The plan is {"name": "en.mono.s1", "source": "en", "languages": {"en": {"encoder": DIR, "vocab": DIR, "parallel": FILE},
"fr": {…, "links": FILE}}, "untrained": false, "ways": ["aligned"], "options": {…}, "biaffine": {…}, "seed": 1,
"config": HASH, "data": {"ner.wikiann": {"task": "ner", "train": FILE, "dev": FILE, "test": {"en": FILE, "fr": FILE}}}}.

`links` is the file of word alignments between the sentences of a language and of the source. Languages may share the
folder of a bilingual encoder. For untrained encoders only run.json is read; they get the initial weights, and their
scores are the baseline that figures call the floor. A killed job resumes from its last saved epoch. It keeps its state
in a subfolder of --work-root whose name holds a hash of everything that determines the result.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

import torch
from torch.nn import Identity

from xling.align.frozen import Fitted, FrozenTuner, Side, fit_map, read_linked, read_sentences
from xling.align.mapping import normalise
from xling.align.plan import Options, plan_parser
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import XlingError, run
from xling.core.io import read_json, sha256_of, write_json
from xling.core.lock import Lock
from xling.core.log import log_to_stderr
from xling.core.records import Flag, Size, read_record, record, refuse
from xling.core.results import hashed
from xling.core.stats import LEVEL, interval
from xling.finetune.data import Speller
from xling.finetune.metrics import MEASURES, counts_of
from xling.finetune.settings import BiaffineSizes
from xling.finetune.tasks import Material, TaskFiles, Tests, read_material
from xling.finetune.trainer import InTurn, in_turn, lanes, resumed, train_and_test
from xling.model.config import Shape
from xling.model.device import local_device, precision, use_one_thread
from xling.model.encoder import Encoder
from xling.pretrain.config import read_run
from xling.pretrain.record import language_index, open_encoder

Way = Literal["plain", "aligned"]
Result = dict[str, Any]


@record
class LanguageFiles:
    """The encoder, vocabulary and parallel sentences of a language, and its word alignments with the source."""

    encoder: Path
    vocab: Path
    parallel: Path
    links: Path | None = None


@record
class Plan:
    """The inputs and options of a job; `config` is the hash that identifies its result."""

    name: str
    source: str
    languages: dict[str, LanguageFiles]
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
                yield f"data.{name}.test: {', '.join(unread)} not among languages"


@dataclass(frozen=True)
class Job:
    """A plan with its inputs loaded: `sides` holds the encoder and sentences of each language, the source first.

    Test sets are used only in the final evaluation.
    """

    plan: Plan
    sides: Mapping[str, Side]
    data: Mapping[str, tuple[Material, Tests]]
    longest: int


def fit_layer(job: Job, layer: int) -> dict[str, Fitted]:
    """Return the means of each language at a layer and, except for the source, its map onto the source."""
    fitted, source = {}, None
    for code, side in job.sides.items():
        states = side.word_states(layer, job.longest)
        if source is None or side.links is None:
            source, means = normalise(states)
            fitted[code] = Fitted(means)
        else:
            fitted[code] = fit_map(source, states, side.links)
    return fitted


def train_unit(job: Job, layer: int, name: str, way: Way, fitted: Mapping[str, Fitted], folder: Path) -> InTurn[Result]:
    """Train task layers on one layer of the source encoder, select the epoch on the dev set, test every language."""
    (material, tests), sides = job.data[name], list(job.sides.values())
    views = [fitted[code].view(side.device) if fitted else Identity() for code, side in job.sides.items()]
    result = yield from train_and_test(FrozenTuner(sides, views, layer, job.plan.options, material), tests, folder)
    task, scores = material.task.name, {}
    measured, measure = next(iter(MEASURES[task].items()))  # the first entry is the main measure of the task
    for code, found in result.pop("test").items():
        low, high = interval(counts_of(found)[None], measure, task, way, code, layer)
        scores[code] = found | {"measure": measured, "score": found["measures"][measured], "low": low, "high": high}
    cosines = {code: fit.cosine for code, fit in fitted.items() if fit.matrix is not None}
    about = {"data": name, "layer": layer, "way": way, "map_cosine": cosines}
    return result | {"task": task, "scores": scores} | about


def run_job(job: Job, work: Path, at_once: int | None = None) -> list[Result]:
    """Return the results of all training runs; results of an earlier attempt are read from the work folder.

    `at_once` is the number of runs that take turns; by default as many as fine-tuning has grid points at once.
    """
    log, plan = log_to_stderr(__name__), job.plan
    units = list(product(plan.options.layers, job.data, plan.ways))
    fit = lru_cache(maxsize=1)(partial(fit_layer, job))  # caches one layer, because the states are large

    def train(number: int, layer: int, name: str, way: Way, folder: Path) -> InTurn[Result]:
        log.info("%s: %s on layer %d, %s (%d of %d)", plan.name, name, layer, way, number, len(units))
        return train_unit(job, layer, name, way, fit(layer) if way == "aligned" else {}, folder)

    works = [
        resumed(work / f"{name}.layer-{layer}.{way}.json", partial(train, number, layer, name, way))
        for number, (layer, name, way) in enumerate(units, start=1)
    ]
    return in_turn(works, lanes(job.sides[plan.source].encoder, at_once))


def check_layers(options: Options, shapes: Mapping[str, Shape]) -> None:
    """Raise XlingError if an encoder lacks a layer, widths differ, or the heads do not divide the width."""
    for code, shape in shapes.items():
        if (top := max(options.layers)) > shape.layers:
            raise XlingError(f"no layer {top} in the encoder of {code}: its layers are 0 to {shape.layers}")
    widths = {code: shape.width for code, shape in shapes.items()}
    width = next(iter(widths.values()))
    if set(widths.values()) != {width}:
        raise XlingError(f"all encoders must have the same width for an orthogonal map; the widths are {widths}")
    if width % options.heads:
        raise XlingError(f"options.heads: the width {width} is not divisible by {options.heads}")


def open_job(plan: Plan, device: torch.device) -> Job:
    """Open the encoders of a plan, each folder once, and read the sentences, links and data of all languages."""
    codes = [plan.source, *(code for code in plan.languages if code != plan.source)]
    runs = {code: read_run(plan.languages[code].encoder / "run.json") for code in codes}
    longest = min(described.pretrain.length for described in runs.values())
    opened: dict[Path, Encoder] = {}
    vocabularies: dict[str, Vocabulary] = {}
    sides: dict[str, Side] = {}
    for code in codes:
        files, described = plan.languages[code], runs[code]
        vocabulary = vocabularies[code] = Vocabulary.load(files.vocab)
        if files.encoder not in opened:
            encoder = open_encoder(files.encoder, described, vocabulary, described.seed if plan.untrained else None)
            opened[files.encoder] = encoder.requires_grad_(False).to(device)
        sentences = read_sentences(files.parallel, Speller(vocabulary, code, longest))
        linked = read_linked(files.links, sides[plan.source].sentences, sentences) if files.links and sides else None
        sides[code] = Side(opened[files.encoder], language_index(described, code, "languages"), sentences, linked)
    check_layers(plan.options, {code: side.encoder.config.shape for code, side in sides.items()})
    settings, numbers = replace(plan.options.settings, biaffine=plan.biaffine), {c: i for i, c in enumerate(codes)}
    data = {
        name: read_material(files, settings, vocabularies, numbers, plan.source, longest, plan.seed)
        for name, files in plan.data.items()
    }
    return Job(plan, sides, data, longest)


def choose_work(plan: Plan, below: Path, device: torch.device) -> Path:
    """Return the work folder; its name has a hash of all that determines the result, so no other job can resume it."""
    inputs: list[Path] = []
    for own in plan.languages.values():
        parts = ["run.json"] if plan.untrained else ["run.json", "model.safetensors"]
        inputs += [*(own.encoder / part for part in parts), *sorted(own.vocab.iterdir()), own.parallel]
        inputs += [own.links] if own.links else []
    for about in plan.data.values():
        inputs += [about.train, about.dev, *about.test.values()]
    decides = {
        "options": asdict(plan.options), "biaffine": asdict(plan.biaffine), "ways": plan.ways,
        "untrained": plan.untrained, "seed": plan.seed, "config": plan.config, "languages": list(plan.languages),
        "data": {name: [about.task, list(about.test)] for name, about in plan.data.items()},
        "inputs": [sha256_of(path) for path in inputs], "precision": precision(device),
    }  # fmt: skip
    return below / f"contextual-{plan.name}-{hashed(decides)}"


def describe(job: Job) -> Result:
    """Return the provenance of a job's result and the sizes of its data."""
    plan = job.plan
    sizes = {}
    for name, (own, tests) in job.data.items():
        sizes[name] = {"train": len(own.train), "dev": len(own.dev)} | {code: len(x) for code, (_, x) in tests.items()}
    return {
        "model": plan.name,
        "models": {code: read_run(plan.languages[code].encoder / "run.json").model for code in job.sides},
        **{key: getattr(plan, key) for key in ("untrained", "config", "source", "seed")},
        "options": asdict(plan.options),
        "ways": list(plan.ways),
        "sizes": sizes,
        "sentences": len(job.sides[plan.source].sentences),
        "links": {code: len(side.links[0]) for code, side in job.sides.items() if side.links is not None},
        "level": LEVEL,
        "torch": torch.__version__,
    }


def main() -> None:
    """Run a job and write its result."""
    args = parse_args()
    device = local_device(args.device)
    use_one_thread(device)
    plan = read_record(Plan, read_json(args.plan), args.plan)
    work = choose_work(plan, args.work_root, device)
    with Lock(work, args.wait_for_lock) as lock:
        job = open_job(plan, device)
        result = describe(job) | {"trainings": run_job(job, work, args.side_by_side)}
        write_json(args.out, result)
        lock.remove_folder()  # otherwise a forced rerun would find the old scores
    for done in result["trainings"]:
        scores = ", ".join(f"{code} {found['score']:.2f}" for code, found in done["scores"].items())
        log_to_stderr(__name__).info("%s layer %d %s: %s", done["data"], done["layer"], done["way"], scores)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = plan_parser(__doc__)
    parser.add_argument("--work-root", type=Path, required=True, help="folder in which the work folder is created")
    parser.add_argument("--side-by-side", type=int, metavar="N", help="runs at once; otherwise as many as fit")
    parser.add_argument("--wait-for-lock", action="store_true", help="wait while another process runs this job")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
