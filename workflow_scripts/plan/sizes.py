"""The rates that a plan assumes (rates.yaml, or the user's own calibration), and the sizes of a study's texts and data.

Sizes are measured if the files exist, and otherwise estimated from their sources. Bytes are bytes of uncompressed text.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from workflow_scripts.config import nearest, read_yaml
from workflow_scripts.files import SPLITS, TASK_DATA
from workflow_scripts.study import Study
from xling.core.errors import InputError
from xling.core.io import open_binary, read_json
from xling.core.tasks import TASKS
from xling.data.lines import table_rows
from xling.data.manifest import load_manifest

RATES_FILE = Path(__file__).with_name("rates.yaml")
MEASURED = {"step": 0.0, "operations_per_second": 1e-9, "tuning_step": 0.0}  # of a device, with minimum values
SCRIPTS = {"Cyrillic": "cyrillic", "Han": "han"}  # scripts with more than one byte per character
XNLI_SENTENCES = 10_000  # sentences per language in XNLI-15way
ARCHIVES = {".bz2": "text_per_bz2", ".xz": "text_per_xz", ".gz": "text_per_xz", ".zst": "text_per_xz"}

manifest = cache(load_manifest)  # the published datasets, read once


@dataclass
class Rates:
    """Rates by name; `used` records the rates that an estimate has used, for the list of assumptions."""

    stages: dict[str, dict[str, Any]]
    device: dict[str, Any]
    downloads: dict[str, Any]
    used: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __call__(self, name: str) -> float:
        """Return a rate and record its use; the prefix `device.` marks rates of the training device."""
        table = self.device if name.startswith("device.") else self.stages
        self.used[name] = table[name.removeprefix("device.")]
        return float(self.used[name]["value"])


def load_rates(device: str) -> Rates:
    """Return the rates of a device: h200, cpu, or the path of a calibration file."""
    known = read_yaml(RATES_FILE)
    stages = {**known["stages"], **known["text"], **known["tasks"]}
    if device in known["devices"]:
        return Rates(stages, known["devices"][device], known["downloads"])
    path = Path(device)
    if not path.is_file():
        raise InputError(path, "no such file of rates", fix=f"{nearest(device, known['devices'])}, or a file")
    own = read_yaml(path)
    wrong = [key for key, kind in (("name", str), ("gpu", bool)) if not isinstance(own.get(key), kind)]
    for key, least in MEASURED.items():
        value = own[key].get("value") if isinstance(own.get(key), dict) else None
        wrong += [] if isinstance(value, int | float) and value >= least else [key]
    if wrong:
        raise InputError(path, f"missing or wrong: {', '.join(wrong)}", fix="write it with python -m bench.calibrate")
    return Rates(stages, known["devices"]["h200" if own["gpu"] else "cpu"] | own, known["downloads"])


@cache
def count_lines(path: Path) -> int:
    """Return the number of lines of a file."""
    with path.open("rb") as handle:
        return sum(1 for _ in handle)


@cache
def count_examples(path: Path, form: str, language: str) -> int:
    """Return the number of examples of a language in a raw file: rows of a table, or blocks of lines."""
    if form.startswith("xnli-mt"):
        return sum(1 for _ in table_rows(path, ()))
    if form == "xnli":
        return sum(code == language for _, (code,) in table_rows(path, ("language",)))
    with open_binary(path) as handle:
        return sum(full for full, _ in groupby(handle, key=lambda line: bool(line.strip())))


@dataclass(frozen=True)
class Sizes:
    """Sizes of one study; `rate` also holds the assumed sizes of files that do not exist yet."""

    study: Study
    rate: Rates

    def text(self, language: str, domain: str) -> float:
        """Return the bytes of a language's text."""
        counted = self.study.shards("text", language, domain, "json")
        if all(path.is_file() for path in counted):
            return float(sum(read_json(path)["characters"] for path in counted)) * self.character(language)
        if self.study.generated:
            sentences = self.study.config["synthetic"][f"{domain}_sentences"]
            return float(sentences * self.rate("sentence") * self.character(language))
        archives = [(path, ARCHIVES.get(Path(path).suffix)) for path in self.study.raw_text(language, domain)]
        return sum(self.raw(path) * (self.rate(kind) if kind else 1.0) for path, kind in archives)

    def tokenised(self, language: str, domain: str) -> float:
        """Return the bytes of the text that is tokenised; of a thinned crawl, only the sampled part counts."""
        text, margin = self.text(language, domain), self.study.thinned_to(language, domain)
        return text if margin is None else min(text, margin * self.text(language, "wiki"))

    def corpus(self, language: str, domain: str) -> float:
        """Return the bytes of a language's training text; web text is trimmed to the encyclopaedia's size."""
        return min(self.text(language, name) for name in self.study.trimmed_to(language, domain) or [domain])

    def tokens(self, language: str, domain: str = "wiki") -> float:
        """Return the number of subwords in a language's training text."""
        return self.corpus(language, domain) / self.character(language) / self.rate("token")

    def character(self, language: str) -> float:
        """Return the bytes per character in a language's script."""
        name = SCRIPTS.get(self.study.language(language)["script"])
        return self.rate(name) if name else 1.0

    def raw(self, path: str) -> float:
        """Return the bytes of a raw file, from disk or from the description of its dataset."""
        file = Path(path)
        if file.is_file():
            return float(file.stat().st_size)
        if self.study.config["data"]["origin"] != "download":
            return 0.0
        brought = self.study.datasets.get(PurePosixPath(file.relative_to(self.study.root)), [])
        asked = {name: [one for one in brought if one["name"] == name] for name in self.study.datasets_of([path])}
        return sum(size or 0.0 for name, some in asked.items() for size in self.published(name, some).values())

    def published(self, dataset: str, requests: Iterable[Mapping[str, Any]]) -> dict[str, float | None]:
        """Return the bytes of a dataset's files by path, or None for a file of unknown size."""
        found: dict[str, float | None] = {}
        for request in requests:
            names = request["substitutions"]
            files = [one for one in manifest()[dataset].resolve(**names).files if one.urls and one.path not in found]
            entry = self.rate.downloads.get(dataset)
            assumed = entry.get(names.get("lg")) if isinstance(entry, dict) else entry
            each = float(assumed) / len(files) if assumed and files else None
            found |= {source.path: source.size or source.about or each for source in files}
        return found

    def download(self, dataset: str) -> tuple[float, list[str]]:
        """Return the bytes of a dataset's files that are not on disk yet, and the files of unknown size.

        Files that the user has to supply are not counted.
        """
        files = self.published(dataset, self.study.requests(dataset))
        absent = {path: size for path, size in files.items() if not (self.study.root / path).is_file()}
        return sum(size or 0.0 for size in absent.values()), [path for path, size in absent.items() if size is None]

    def words(self, model: str) -> int:
        """Return the largest number of tokens that a language of a model predicts from, which sets the softmax cost."""
        bpe, kind = self.study.config["bpe"], self.study.vocabulary_kind(self.study.models[model])
        own = int(bpe["language_merges"])
        return {"joint": int(bpe["joint_merges"]), "mono": own, "separate": own}.get(kind, 2 * own)

    def generated(self) -> float:
        """Return the number of sentences of one generated language; files that languages share count the same."""
        made = self.study.config["synthetic"]
        return float(made["wiki_sentences"] + made["crawl_sentences"])

    def parallel(self) -> float:
        """Return the number of parallel sentences."""
        return float(self.study.config["synthetic"]["parallel_sentences"] if self.study.generated else XNLI_SENTENCES)

    def examples(self, data: Mapping[str, Any], task: str, split: str) -> float:
        """Return the number of examples in the files of a split: counted, from the generator's sizes, or assumed."""
        kind, found = TASKS[task].data, 0.0
        for path in map(Path, data["test"].values() if split == "test" else [data[split]]):
            code, dataset = path.name.split(".")[:2]
            form, raw = self.study.task_source(kind, code, dataset, split)
            if path.is_file():
                found += count_lines(path)
            elif self.study.generated:
                found += self.study.config["synthetic"][TASK_DATA[kind].size][SPLITS.index(split)]
            elif all(map(os.path.isfile, raw)):
                found += sum(count_examples(Path(file), form, self.study.original(code)) for file in raw)
            else:
                found += self.rate(f"{kind}_{split}")
        return found

    def steps(self, count: float, operations: float, step: str = "device.step") -> float:
        """Return the seconds that the device takes for `count` steps with `operations` operations in total."""
        return count * self.rate(step) + operations / self.rate("device.operations_per_second")
