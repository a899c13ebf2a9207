"""Which published datasets a study needs: those that hold a file it reads, and no others."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from string import Formatter
from typing import Any

from workflow_scripts.config import Config, expand_path
from workflow_scripts.files import needed_files, paths_of_language
from workflow_scripts.grid import original_of, study_languages
from xling.core.errors import InputError
from xling.data.manifest import SAFE_VALUE, Dataset, load_manifest


def datasets_by_file(config: Config) -> dict[PurePosixPath, dict[str, list[dict[str, Any]]]]:
    """Return for each raw file of the study what to ask of the datasets that bring it.

    A file that no dataset brings is the user's to put below the data root.
    """
    candidates = [
        (dataset.resolve(**values), values)
        for dataset in load_manifest().values()
        for values in _substitutions(config, dataset)
    ]
    return {path: _bringing(path, candidates) for path in _needed(config)}


def _bringing(path: PurePosixPath, candidates: list[tuple[Dataset, dict[str, str]]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for dataset, values in candidates:
        if _holds(path, dataset):
            found.setdefault(dataset.name, []).append({"name": dataset.name, "substitutions": values})
    return found


def _needed(config: Config) -> list[PurePosixPath]:
    root = expand_path(config["data"]["root"])
    return [PurePosixPath(path.relative_to(root)) for path in dict.fromkeys(needed_files(config).values())]


def _substitutions(config: Config, dataset: Dataset) -> Iterator[dict[str, str]]:
    """Yield every way to fill in a dataset for the study's languages; one that it does not have is passed over."""
    fixed = {"date": config["data"]["wikipedia_date"]} if "date" in dataset.parameters else {}
    if "lg" not in dataset.parameters:
        yield fixed
        return
    for code in dict.fromkeys(original_of(config, code) for code in study_languages(config)):
        known: list[Dataset] = []
        for names in [{}, *_names_in_paths(dataset, config, code)]:
            values = {"lg": code, **fixed, **names}
            try:
                filled = dataset.resolve(**values)
            except InputError:
                continue
            if filled not in known:
                known.append(filled)
                yield values


def _names_in_paths(dataset: Dataset, config: Config, code: str) -> list[dict[str, str]]:
    """Return the names that a language's paths have where the dataset's own have a placeholder.

    So a language that the manifest has never heard of, or another treebank, takes no more than its paths.
    """
    if not dataset.from_lg:
        return []
    templates = [_pattern(product) for file in dataset.files for product in file.products()]
    paths = paths_of_language(config, code)
    found = [match.groupdict() for template in templates for path in paths if (match := template.fullmatch(path))]
    return [{name: value for name, value in names.items() if name in dataset.from_lg} for names in found]


def _pattern(template: str) -> re.Pattern[str]:
    """Return what matches the paths that a template stands for; a name that comes twice is the same both times."""
    text, seen = "", set()
    for literal, name, _, _ in Formatter().parse(template):
        text += re.escape(literal)
        if name is not None:
            text += f"(?P={name})" if name in seen else f"(?P<{name}>{SAFE_VALUE})"
            seen.add(name)
    return re.compile(text)


def _holds(path: PurePosixPath, dataset: Dataset) -> bool:
    """Tell whether a dataset brings a file, a folder with its files in it, or something inside an unpacked folder."""
    if any(PurePosixPath(product).is_relative_to(path) for file in dataset.files for product in file.products()):
        return True
    unpacked = [file.unpack.to for file in dataset.files if file.unpack and not file.products()]
    return any(path.is_relative_to(folder) for folder in unpacked)
