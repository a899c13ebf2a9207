"""The raw files that a study reads, and the published datasets that provide them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, reduce
from itertools import chain, product
from pathlib import Path, PurePosixPath
from string import Formatter
from typing import Any, NamedTuple

from workflow_scripts.config import Config, expand_path
from workflow_scripts.grid import OWN, Grid, split_languages
from xling.core.errors import InputError
from xling.core.tasks import TASKS
from xling.data.manifest import SAFE_VALUE, Dataset, SourceFile, load_manifest

Request = dict[str, Any]  # name of a dataset, and substitutions: the values of its placeholders
SPLITS = ("train", "dev", "test")


class TaskData(NamedTuple):
    """A kind of data that tasks are trained on; a dataset or format of None is chosen by the study."""

    files: str  # key of the raw files
    dataset: str | None
    form: str | None
    size: str  # key of the numbers of generated examples


TASK_DATA = {
    "nli": TaskData("data.nli", "xnli", "xnli", "nli_pairs"),
    "ner": TaskData("languages.{code}.ner.{dataset}", None, None, "ner_sentences"),
    "parsing": TaskData("languages.{code}.treebank", "ud", "conllu", "treebank_sentences"),
}


class Files(Grid):
    """The raw files of a study, derived from its description only."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.generated: bool = config["data"]["origin"] == "generated"  # by xling.synthetic

    @cached_property
    def root(self) -> Path:
        """The folder of all raw data."""
        return expand_path(self.config["data"]["root"])

    def files_at(self, *keys: str) -> dict[str, str]:
        """Return the raw files that keys name, by key; a list has one per item, and a missing or null key none."""
        found: dict[str, str] = {}
        for key in keys:
            first, *rest = key.removeprefix("languages.").split(".")
            start: Any = self.language(first) if key.startswith("languages.") else self.config[first]
            value = reduce(lambda part, name: (part or {}).get(name), rest, start)
            items = {f"{key}[{i}]": path for i, path in enumerate(value)} if isinstance(value, list) else {key: value}
            found |= {key: path for key, path in items.items() if path and path != OWN}
        return found

    @cached_property
    def needed_files(self) -> dict[str, Path]:
        """Every raw file that the study reads, by the key path that names it."""
        shared = [key for key in (self.task_key(*file) for file in self.task_files) if not key.startswith("languages.")]
        keys = [*shared, *(["data.more_nli"] if "data.nli.train" in shared else []), "data.parallel"]
        tests = {f"data.tatoeba ({Path(path).name})": path for path in self.tatoeba_files}
        files = self.files_at(*keys) | tests | self.files_at(*chain(*self.language_keys.values()))
        return {key: self.root / path for key, path in files.items()}

    @cached_property
    def language_keys(self) -> dict[str, list[str]]:
        """The keys of the raw files that the study reads in each language."""
        words = [code for code in self.compared if "muse" in self.language(code)]
        keys = {code: [f"text.{domain}.files" for domain in domains] for code, domains in self.domains.items()}
        for code, own in keys.items():
            own += ["muse.train", "muse.test"] if code in words else []
            own += ["dictionary.path"] if code in self.switched_languages else []
            own += ["vectors"] if words and code in (self.source, *words) else []
            own += ["parallel"] if self.config["data"]["parallel"] else []
            own += ["segmenter_dictionary"]
        whole = {code: [f"languages.{code}.{key}" for key in own] for code, own in keys.items()}
        for file in self.task_files:
            kind, code, *_ = file
            whole[code] += [self.task_key(*file)] if "{code}" in TASK_DATA[kind].files else []
        return whole

    @cached_property
    def tatoeba_files(self) -> list[str]:
        """The Tatoeba files of every language that is compared, or of all languages if the data is generated."""
        used = self.originals if self.generated else self.compared
        return [path for code in self.originals if code in used for path in self.tatoeba_sides(code).values()]

    def tatoeba_sides(self, code: str) -> dict[str, str]:
        """Return the published Tatoeba files of a language and the source language, or nothing if either has none."""
        names = {side: self.language(c).get("tatoeba") for side, c in (("target", code), ("source", self.source))}
        if code == self.source or not all(names.values()):
            return {}
        stem = f"{self.config['data']['tatoeba']}/tatoeba.{names['target']}-{names['source']}"
        return {side: f"{stem}.{name}" for side, name in names.items()}

    @cached_property
    def parallel_sides(self) -> dict[str, str | None]:
        """Languages with parallel sentences, each with its own file, or None if its sentences are in the table.

        A copy of a language without its own file is left out, because it uses the sentences of the original.
        """
        if not self.config["data"]["parallel"]:
            return {}
        sides = {code: self.language(code).get("parallel") for code in self.languages}
        return {code: path for code, path in sides.items() if path or self.original(code) == code}

    @cached_property
    def switched_languages(self) -> list[str]:
        """Languages whose dictionary from the source language is used for code-switching."""
        extra = {name for name, setting in self.settings.items() if setting["anchors"] == "extra"}
        return sorted({model.languages[1] for model in self.models.values() if model.setting in extra})

    @cached_property
    def task_files(self) -> list[tuple[str, str, str, str]]:
        """Kind, language, data set and split of every file of the study's tasks."""
        kinds = sorted({TASKS[task].data for task in self.config["study"]["tasks"]})
        pairs = product(kinds, self.config["study"]["pairs"])
        return list(dict.fromkeys((kind, *key) for kind, pair in pairs for key in self.task_keys(kind, pair)))

    def task_keys(self, kind: str, pair: str) -> list[tuple[str, str, str]]:
        """Return language, data set and split of a pair's files: every split of the source, only test of the target."""
        (source, target), name = split_languages(pair), TASK_DATA[kind].dataset
        names = {"train": name, "test": name} if name else self.config["pairs"][pair][kind]
        return [*((source, names["train"], split) for split in SPLITS), (target, names["test"], "test")]

    def task_key(self, kind: str, code: str, dataset: str, split: str) -> str:
        """Return the key that names the raw file of a task."""
        return f"{TASK_DATA[kind].files}.{split}".format(code=code, dataset=dataset)

    @cached_property
    def datasets(self) -> dict[PurePosixPath, list[Request]]:
        """The requests to published datasets that provide each raw file.

        If no dataset provides a file, the user must put it below the data root.
        """
        paths: dict[str, list[str]] = {code: [] for code in self.originals}
        for code, keys in self.language_keys.items():
            paths[self.original(code)] += self.files_at(*keys).values()
        for code, found in paths.items():
            sentences = f"tatoeba.{self.language(code).get('tatoeba')}-"
            found += [path for path in self.tatoeba_files if Path(path).name.startswith(sentences)]
        date = self.config["data"]["wikipedia_date"]
        offers = [offer for dataset in load_manifest().values() for offer in _offers(dataset, date, paths)]
        needed = dict.fromkeys(PurePosixPath(path.relative_to(self.root)) for path in self.needed_files.values())
        return {path: [offer.request for offer in offers if offer.holds(path)] for path in needed}

    def datasets_of(self, paths: Iterable[str]) -> list[str]:
        """Return the published datasets that provide these raw files."""
        below = [PurePosixPath(Path(path).relative_to(self.root)) for path in paths]
        return sorted({request["name"] for path in below for request in self.datasets.get(path, [])})

    def requests(self, dataset: str) -> list[Request]:
        """Return the requests of this study to a dataset."""
        asked = [request for found in self.datasets.values() for request in found if request["name"] == dataset]
        unique = {json.dumps(request, sort_keys=True): request for request in asked}
        return [unique[key] for key in sorted(unique)]


class Offer(NamedTuple):
    """A request to a published dataset, the files that it provides, and the folders that it unpacks."""

    request: Request
    products: list[PurePosixPath]
    folders: list[str]

    def holds(self, path: PurePosixPath) -> bool:
        """Return whether the dataset provides a path: a file, a folder with its files, or a path in an archive."""
        inside = any(path.is_relative_to(folder) for folder in self.folders)
        return inside or any(product.is_relative_to(path) for product in self.products)


def _offers(dataset: Dataset, date: str, paths: Mapping[str, list[str]]) -> Iterator[Offer]:
    """Yield what a dataset provides for each language of `paths`; languages that it does not have are skipped."""
    fixed = {"date": date} if "date" in dataset.parameters else {}
    ways: list[dict[str, str]] = [fixed]
    if "lg" in dataset.parameters:
        named = [(code, names) for code in paths for names in [{}, *_names_in_paths(dataset, paths[code])]]
        ways = [{"lg": code, **fixed, **names} for code, names in named]
    different: dict[tuple[str | None, tuple[SourceFile, ...]], dict[str, str]] = {}
    for values in ways:
        with suppress(InputError):
            different.setdefault((values.get("lg"), dataset.resolve(**values).files), values)
    for (_, files), values in different.items():
        products = [PurePosixPath(product) for file in files for product in file.products()]
        folders = [file.unpack.to for file in files if file.unpack and not file.products()]
        yield Offer({"name": dataset.name, "substitutions": values}, products, folders)


def _names_in_paths(dataset: Dataset, paths: list[str]) -> list[dict[str, str]]:
    """Return the values that a language's paths give to the placeholders in the dataset's paths.

    A language or treebank that the manifest does not list can therefore be used by naming its paths.
    """
    templates = [_pattern(product) for file in dataset.files if dataset.from_lg for product in file.products()]
    found = [match.groupdict() for template in templates for path in paths if (match := template.fullmatch(path))]
    return [{name: value for name, value in names.items() if name in dataset.from_lg} for names in found]


def _pattern(template: str) -> re.Pattern[str]:
    """Return a regular expression for the paths of a template; a repeated placeholder must have the same value."""
    text, seen = "", set()
    for literal, name, _, _ in Formatter().parse(template):
        text += re.escape(literal)
        if name is not None:
            text += f"(?P={name})" if name in seen else f"(?P<{name}>{SAFE_VALUE})"
            seen.add(name)
    return re.compile(text)


def data_paths(data: Mapping[str, Any]) -> list[str]:
    """Return all prepared files of a task: train and dev of one language, and the test set of each language."""
    return [data["train"], data["dev"], *data["test"].values()]
