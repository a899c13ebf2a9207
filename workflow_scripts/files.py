"""Which raw files a study reads, and which published datasets bring them."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from string import Formatter
from typing import Any, NamedTuple

from workflow_scripts import grid
from workflow_scripts.config import Config, expand_path
from workflow_scripts.grid import OWN
from xling.core.errors import InputError
from xling.data.manifest import SAFE_VALUE, Dataset, load_manifest

TREE_TASKS = {"parsing", "pos"}
SPLITS = ("train", "dev", "test")


def needed_files(config: Config) -> dict[str, Path]:
    """Return every raw file that the study reads, by the key path that names it."""
    root = expand_path(config["data"]["root"])
    tasks = set(config["study"]["tasks"])
    files = {f"data.nli.{split}": path for split, path in config["data"]["nli"].items() if "xnli" in tasks}
    files |= {f"data.more_nli[{i}]": path for i, path in enumerate(config["data"]["more_nli"]) if "xnli" in tasks}
    files |= {"data.parallel": config["data"]["parallel"]} if config["data"]["parallel"] else {}
    files |= {f"data.tatoeba ({Path(path).name})": path for path in tatoeba_files(config)}
    for own in _files_by_language(config).values():
        files |= own
    return {key: root / path for key, path in files.items()}


def tatoeba_files(config: Config) -> list[str]:
    """Return both sides of the Tatoeba test set of every language that is compared; the generator writes all."""
    source, folder = config["study"]["source"], config["data"]["tatoeba"]
    codes = {code: grid.language_of(config, code).get("tatoeba") for code in original_languages(config)}
    used = codes if config["data"]["origin"] == "generated" else compared(config)
    if not codes.get(source):
        return []
    others = [name for code, name in codes.items() if name and code in used and code != source]
    return [f"{folder}/tatoeba.{other}-{codes[source]}.{side}" for other in others for side in (other, codes[source])]


def original_languages(config: Config) -> list[str]:
    """Return the languages that have text of their own: all that are no copies."""
    return list(dict.fromkeys(grid.original_of(config, code) for code in grid.study_languages(config)))


def parallel_sides(config: Config) -> dict[str, str | None]:
    """Return the languages that parallel sentences are read in, with a file of their own where the table has no column.

    A copy without such a file is not among them: it reads its original's.
    """
    if not config["data"]["parallel"]:
        return {}
    sides = {code: grid.language_of(config, code).get("parallel") for code in grid.study_languages(config)}
    return {code: path for code, path in sides.items() if path or grid.original_of(config, code) == code}


def sources_by_language(config: Config) -> Iterator[dict[str, str]]:
    """Yield what should be of one language alone, by key path: its files, and its codes in collections.

    A dump of PanLex holds all languages, and varieties of one may well be segmented with the same words.
    """
    own = _files_by_language(config)
    for code in [code for code in own if grid.original_of(config, code) == code]:
        language, where = grid.language_of(config, code), f"languages.{code}"
        dictionary = language.get("dictionary", {})
        shared = {f"{where}.segmenter_dictionary"}
        shared |= {f"{where}.dictionary.path"} if dictionary.get("format") == "panlex" else set()
        files = {key: path for key, path in own[code].items() if key not in shared}
        codes = {f"{where}.tatoeba": language.get("tatoeba"), f"{where}.dictionary.code": dictionary.get("code")}
        yield files | {key: name for key, name in codes.items() if name}


def compared(config: Config) -> list[str]:
    """Return the languages whose own model is compared with the source's (section 5)."""
    alone, source = config["study"]["languages"], config["study"]["source"]
    return [code for code in alone if code != source] if source in alone else []


def switched_languages(config: Config) -> list[str]:
    """Return the languages whose dictionary from the source language is used for code-switching."""
    extra = {name for name in config["settings"] if grid.setting_of(config, name)["anchors"] == "extra"}
    return sorted({model.languages[1] for model in grid.trained_models(config) if model.setting in extra})


def _files_by_language(config: Config) -> dict[str, dict[str, str]]:
    """Return the files that are read of every language, by the key path that names them."""
    switched = switched_languages(config)
    return {
        code: _files_of_language(config, code, domains, code in switched)
        for code, domains in grid.domains_used(config).items()
    }


def _files_of_language(config: Config, code: str, domains: list[str], switched: bool) -> dict[str, str]:
    language, where = grid.language_of(config, code), f"languages.{code}"
    files: dict[str, str] = {}
    for domain in domains:
        files |= {f"{where}.text.{domain}.files[{i}]": path for i, path in enumerate(language["text"][domain]["files"])}
    columns = [codes for pair in config["study"]["pairs"] if code in (codes := grid.pair_languages(pair))]
    if TREE_TASKS & set(config["study"]["tasks"]):
        splits = {split for codes in columns for split in (SPLITS if codes[0] == code else ("test",))}
        trees = language.get("treebank", {})
        files |= {f"{where}.treebank.{split}": path for split, path in trees.items() if split in splits}
    pairs = config["study"]["pairs"] if "ner" in config["study"]["tasks"] else []
    roles = [(pair, *role) for pair in pairs for role in zip(grid.pair_languages(pair), ("train", "test"), strict=True)]
    for name in sorted({config["pairs"][pair]["ner"][role] for pair, owner, role in roles if owner == code}):
        data = language["ner"][name]
        files |= {f"{where}.ner.{name}.{split}": data[split] for split in ("train", "dev", "test") if split in data}
    words = [other for other in compared(config) if grid.language_of(config, other).get("muse")]
    if code in words:
        files |= {f"{where}.muse.{split}": path for split, path in language["muse"].items()}
    if switched:
        files[f"{where}.dictionary.path"] = language["dictionary"]["path"]
    used = {"vectors": words and code in (config["study"]["source"], *words), "parallel": config["data"]["parallel"]}
    single = {key: language.get(key) for key in ("vectors", "parallel", "segmenter_dictionary") if used.get(key, True)}
    return files | {f"{where}.{key}": path for key, path in single.items() if path and path != OWN}


class Filled(NamedTuple):
    """A published dataset with its placeholders filled in: what it brings, and the folders that it unpacks whole."""

    name: str
    substitutions: dict[str, str]
    products: list[PurePosixPath]
    folders: list[str]

    def holds(self, path: PurePosixPath) -> bool:
        """Tell whether it brings a file, a folder with its files in it, or something inside an unpacked folder."""
        inside = any(path.is_relative_to(folder) for folder in self.folders)
        return inside or any(product.is_relative_to(path) for product in self.products)


def datasets_by_file(config: Config) -> dict[PurePosixPath, dict[str, list[dict[str, Any]]]]:
    """Return for each raw file of the study what to ask of the datasets that bring it.

    A file that no dataset brings is the user's to put below the data root.
    """
    root, date = expand_path(config["data"]["root"]), config["data"]["wikipedia_date"]
    paths: dict[str, list[str]] = {code: [] for code in original_languages(config)}
    for code, own in _files_by_language(config).items():
        paths[grid.original_of(config, code)] += own.values()
    tests = tatoeba_files(config)
    for code, found in paths.items():
        sentences = f"tatoeba.{grid.language_of(config, code).get('tatoeba')}-"
        found += [path for path in tests if Path(path).name.startswith(sentences)]
    filled = [one for dataset in load_manifest().values() for one in _fillings(dataset, date, paths)]
    needed = dict.fromkeys(PurePosixPath(path.relative_to(root)) for path in needed_files(config).values())
    brought: dict[PurePosixPath, dict[str, list[dict[str, Any]]]] = {path: {} for path in needed}
    for path, asked in brought.items():
        for one in (one for one in filled if one.holds(path)):
            asked.setdefault(one.name, []).append({"name": one.name, "substitutions": one.substitutions})
    return brought


def _fillings(dataset: Dataset, date: str, paths: Mapping[str, list[str]]) -> Iterator[Filled]:
    """Yield every way to fill in a dataset for the languages of `paths`; one that it does not have is passed over."""
    fixed = {"date": date} if "date" in dataset.parameters else {}
    ways: list[dict[str, str]] = [fixed]
    if "lg" in dataset.parameters:
        named = [(code, names) for code in paths for names in [{}, *_names_in_paths(dataset, paths[code])]]
        ways = [{"lg": code, **fixed, **names} for code, names in named]
    known: list[tuple[str | None, Dataset]] = []
    for values in ways:
        try:
            filled = dataset.resolve(**values)
        except InputError:
            continue
        if (values.get("lg"), filled) not in known:
            known.append((values.get("lg"), filled))
            products = [PurePosixPath(product) for file in filled.files for product in file.products()]
            folders = [file.unpack.to for file in filled.files if file.unpack and not file.products()]
            yield Filled(dataset.name, values, products, folders)


def _names_in_paths(dataset: Dataset, paths: list[str]) -> list[dict[str, str]]:
    """Return the names that a language's paths have where the dataset's own have a placeholder.

    So a language that the manifest has never heard of, or another treebank, takes no more than its paths.
    """
    templates = [_pattern(product) for file in dataset.files if dataset.from_lg for product in file.products()]
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
