"""Checks of a study that types cannot express: names and files must exist, and numbers must fit together."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import product
from pathlib import PurePosixPath

from workflow_scripts.config import Config, ConfigError, expand_path, merge
from workflow_scripts.files import Files
from workflow_scripts.grid import OWN, split_languages
from workflow_scripts.schema import Setting, schema_problems
from xling.core.errors import InputError
from xling.core.records import find_problems, missing_keys, nearest
from xling.data.lines import read_header
from xling.data.plausible import SCRIPTS
from xling.finetune.settings import Settings, grid_points, read_settings
from xling.model.config import Separate, Shape, sharing_problems
from xling.pretrain.config import Pretrain, fitting_problems

Problems = Iterator[str]
SHORTEST = 8  # tokens per sequence; this limit does not apply to xling.pretrain on its own
NEEDED_OF_A_LANGUAGE = ("script", "moses", "segmenter", "text")


def check(config: Config) -> None:
    """Raise ConfigError with all problems of the first check that fails; later checks would only repeat them."""
    for problems in (schema_problems, _folders, _incomplete, _names):
        _refuse(problems(config))
    study = Files(config)
    for further in (_choices, _languages, _settings, _numbers, _data, _shared_sources, _reused, _files, _columns):
        _refuse(further(study))


def _refuse(problems: Iterable[str]) -> None:
    if found := list(problems):
        raise ConfigError(found)


def _folders(config: Config) -> Problems:
    """Refuse folders with `..`, unprintable characters or braces, which Snakemake would read as wildcards."""
    for section, key in (("study", "results"), ("data", "root")):
        try:
            path = expand_path(config[section][key])
        except ConfigError as error:  # an environment variable that is not set
            yield f"{section}.{key}: {error.problems[0]}"
            continue
        if ".." in path.parts or set("{}") & set(str(path)) or not str(path).isprintable():
            yield f"{section}.{key}: expected a folder without '..' and braces, found {str(path)!r} (write it from /)"


def _incomplete(config: Config) -> Problems:
    """Yield the missing keys that are optional in a record type but required in a study."""
    if "default" not in config["settings"]:
        yield "settings.default: missing key (other settings take from it what they do not say)"
        return
    default = config["settings"]["default"]
    yield from missing_keys(Shape, config["model"], "model")
    yield from missing_keys(Pretrain, config["pretrain"], "pretrain")
    yield from missing_keys(Setting, {"like": "", **default}, "settings.default")
    yield from missing_keys(Separate, default.get("separate", {}), "settings.default.separate")
    for name, task in config["tasks"].items():
        yield from missing_keys(Settings, task if name == "parsing" else {"biaffine": None, **task}, f"tasks.{name}")


def _names(config: Config) -> Problems:
    study, languages, pairs, settings = (config[key] for key in ("study", "languages", "pairs", "settings"))
    yield from _unknown("study.source", [study["source"]], languages, "language")
    yield from _unknown("study.languages", study["languages"], languages, "language")
    for pair in study["pairs"]:
        yield from _unknown(f"study.pairs: {pair}", split_languages(pair), languages, "language")
    yield from _unknown("study.settings", study["settings"], settings, "setting")
    bases = [name for name, setting in settings.items() if "like" not in setting]
    for name in sorted(settings.keys() - bases):
        yield from _of_original(f"settings.{name}.like", settings[name]["like"], bases, settings, "setting")
    originals = [code for code, language in languages.items() if "copy_of" not in language]
    for code in sorted(languages.keys() - originals):
        yield from _of_original(
            f"languages.{code}.copy_of", languages[code]["copy_of"], originals, languages, "language"
        )
    for cell in study["extra"]:
        pair, setting = cell.split(".", 1)
        yield from _unknown(f"study.extra: {cell}", split_languages(pair), languages, "language")
        yield from _unknown(f"study.extra: {cell}", [setting], settings, "setting")
    for pair in pairs:
        yield from _unknown(f"pairs.{pair}", split_languages(pair), languages, "language")


def _choices(study: Files) -> Problems:
    config, chosen = study.config, study.config["study"]
    for pair in config["pairs"]:
        if len(set(split_languages(pair))) < 2:
            yield f"pairs.{pair}: expected two different languages (a second model of one is a copy_of it)"
    for pair in [*chosen["pairs"], *(cell.split(".")[0] for cell in chosen["extra"])]:
        if split_languages(pair)[0] != study.source:
            yield f"pairs.{pair}: expected the source language {study.source!r} first (dictionaries start from it)"
    combinations = [f"{pair}.{setting}" for pair, setting in product(chosen["pairs"], chosen["settings"])]
    yield from _unmatched("study.skip", chosen["skip"], combinations)
    for group in chosen["more_seeds"]:
        yield from _unmatched("study.more_seeds.models", group["models"], [*combinations, *study.groups])
    if study.source not in study.languages:
        wanted = "expected it in study.languages or in a pair: tasks and comparisons start from it"
        yield f"study.source: no model of the study reads {study.source!r} ({wanted})"
    first: dict[str, str] = {}
    for name, setting in config["settings"].items():
        if (other := first.setdefault(setting["label"], name)) != name:
            yield f"settings.{name}.label: {setting['label']!r} is the label of settings.{other} too (expected its own)"


def _languages(study: Files) -> Problems:
    languages = study.config["languages"]
    for code, language in languages.items():
        for key in NEEDED_OF_A_LANGUAGE:
            if key not in language and "copy_of" not in language:
                yield f"languages.{code}.{key}: missing key (a language that is no copy_of another needs it)"
        script = language.get("script", "Latin")
        close = get_close_matches(script.lower(), [name.lower() for name in SCRIPTS], n=1, cutoff=0.75)
        if close and script not in SCRIPTS:  # any other name is accepted, but text is not checked against it
            yield f"languages.{code}.script: unknown script {script!r} (did you mean {close[0].capitalize()!r}?)"
        if language.get("segmenter") == "stanford" and not language.get("segmenter_dictionary"):
            yield f"languages.{code}.segmenter_dictionary: missing (expected the folder of the Stanford segmenter)"


def _settings(study: Files) -> Problems:
    shape = Shape(**study.config["model"])
    for name, setting in study.settings.items():
        where = f"settings.{name}"
        separate = Separate(**setting["separate"])
        for problem in sharing_problems(shape, separate, setting["softmax"]):
            yield f"{where}.{problem}"
        if (separate.embeddings or setting["anchors"] == "none") and setting["bpe"] == "joint":
            yield f"{where}.bpe: expected per-language, because a joint vocabulary has anchors"
        if separate.embeddings and setting["anchors"] != "none":
            yield f"{where}.anchors: expected none, because each language has its own embeddings"


def _numbers(study: Files) -> Problems:
    config = study.config
    shape, contextual = Shape(**config["model"]), config["align"]["contextual"]
    if (top := max(contextual["layers"])) > shape.layers:
        yield f"align.contextual.layers: {top} goes beyond the model's {shape.layers} layers"
    if shape.width % contextual["heads"]:
        yield f"align.contextual.heads: {contextual['heads']} does not divide model.width {shape.width}"
    everywhere = list(_training(config["pretrain"], shape))
    yield from (f"pretrain.{problem}" for problem in everywhere)
    overrides = {"monolingual.train": config["monolingual"]["train"]}
    overrides |= {f"settings.{name}.train": setting.get("train", {}) for name, setting in config["settings"].items()}
    for where, override in overrides.items():
        found = _training(merge(config["pretrain"], override), shape) if override else []
        yield from (f"{where}.{problem}" for problem in found if problem not in everywhere)
    for name, task in config["tasks"].items():
        points = len(grid_points(read_settings(task)))
        if task["best"] > points:
            yield f"tasks.{name}.best: {task['best']} of {points} grid points (expected at most {points})"


def _training(values: Config, shape: Shape) -> Problems:
    if problems := find_problems(Pretrain, values):
        yield from problems
        return
    training = Pretrain(**values)
    if training.length < SHORTEST:
        yield f"length: expected at least {SHORTEST}, found {training.length}"
    yield from fitting_problems(training, shape)
    if training.warmup >= training.updates:
        yield f"warmup: {training.warmup} updates of warm-up leave none of {training.updates} to train"


def _data(study: Files) -> Problems:
    config = study.config
    if study.generated and config["data"]["more_nli"]:
        yield "data.more_nli: expected an empty list, because the generator writes one training set"
    if config["data"]["parallel"] is None and (study.generated or study.compared):
        wanted = "expected a file, or languages: []"
        yield f"data.parallel: missing, but the models of study.languages are compared on it ({wanted})"
    for code, domains in study.domains.items():
        language, where = study.language(code), f"languages.{code}"
        for domain in domains:
            if domain not in language["text"]:
                yield f"{where}.text.{domain}: missing, but models of the study read it (settings with domain {domain})"
        if study.generated:
            traits = config["synthetic"]["languages"]
            if study.original(code) not in traits:
                yield f"synthetic.languages.{code}: missing, so it cannot be generated ({nearest(code, traits)})"
            if "tatoeba" not in language:
                yield f"{where}.tatoeba: missing, but the generator names a language's files by it"
            if language.get("vectors") not in (None, OWN):
                yield f"{where}.vectors: expected own or null, because the generator writes no vectors"
    for code in study.switched_languages:
        if "dictionary" not in study.language(code):
            yield f"languages.{code}.dictionary: missing, but models with extra anchors are code-switched with it"
        if study.language(code).get("dictionary", {}).get("format") == "panlex":
            for side in (study.source, code):
                if "code" not in study.language(side).get("dictionary", {}):
                    yield f"languages.{side}.dictionary.code: missing, but the PanLex dump is read by it"
    wrong = list(_ner(study)) if "ner" in config["study"]["tasks"] else []
    keys = dict.fromkeys(study.task_key(*file) for file in study.task_files) if not wrong else {}
    absent = [key for key in keys if not study.files_at(key)]
    yield from wrong + [f"{key}: missing, but a task of the study reads it" for key in absent]


def _ner(study: Files) -> Problems:
    config = study.config
    for pair in config["study"]["pairs"]:
        if not (chosen := config["pairs"].get(pair, {}).get("ner")):
            yield f"pairs.{pair}.ner: missing, but the study has the task ner (expected the sets to train and test on)"
            continue
        for split, code in zip(("train", "test"), split_languages(pair), strict=True):
            name, sets = chosen[split], study.language(code).get("ner", {})
            if name not in sets:
                owner = config["languages"][code]["name"]
                yield f"pairs.{pair}.ner.{split}: {owner} has no NER data set {name!r} ({nearest(name, sets)})"


def _shared_sources(study: Files) -> Problems:
    """Refuse two languages with the same source, as left by a half-edited copy of an entry; copy_of allows it.

    A PanLex dump holds all languages, and a segmenter's dictionary may serve several, so these may be shared.
    """
    first: dict[str, str] = {}
    for code in (code for code in study.languages if study.original(code) == code):
        language, where = study.language(code), f"languages.{code}"
        dictionary = language.get("dictionary", {})
        shared = {f"{where}.segmenter_dictionary"}
        shared |= {f"{where}.dictionary.path"} if dictionary.get("format") == "panlex" else set()
        own = {f"{where}.tatoeba": language.get("tatoeba"), f"{where}.dictionary.code": dictionary.get("code")}
        for key, name in (study.files_at(*study.language_keys[code]) | own).items():
            other = first.setdefault(name, key).split(".")[1]
            if name and key not in shared and other != code:
                yield f"{key}: {name} is {first[name]} too (expected its own, or copy_of: {other})"


def _reused(study: Files) -> Problems:
    """Refuse a file that stands twice in one data set: as test and training data, or in both domains of a language."""
    first: dict[tuple[str, str], str] = {}
    for key, path in study.needed_files.items():
        # a data set, all texts of a language, or everything in the section `data`
        group = "data" if key.startswith("data.") else re.split(r"\.text\.|\.\w+$", key)[0]
        if (other := first.setdefault((group, str(path)), key)) != key:
            yield f"{key}: {path.relative_to(study.root)} is {other} too (expected a file of its own)"


def _files(study: Files) -> Problems:
    local, root = study.config["data"]["origin"] == "local", study.root
    if study.generated:
        return
    if local and not root.is_dir():
        yield f"data.root: no such folder: {root} (expected the folder that the paths of all data start from)"
        return
    fetched = {} if local else study.datasets
    for key, path in study.needed_files.items():
        if not path.exists() and not fetched.get(PurePosixPath(path.relative_to(root))):
            names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
            hint = nearest(path.name, names) if names else f"no folder {path.parent}"
            yield f"{key}: no such file: {path} ({hint})"


def _columns(study: Files) -> Problems:
    """Check at the start that every language has parallel sentences; otherwise a job would fail much later."""
    data = study.config["data"]
    if data["origin"] != "local" or not data["parallel"]:
        return
    path = study.root / data["parallel"]
    try:
        header = read_header(path)
    except InputError as error:
        yield f"data.parallel: {error}"
        return
    for code, own in study.parallel_sides.items():
        if own is None and code not in header:
            wanted = "expected a file of its own, line by line the table's sentences"
            yield f"languages.{code}.parallel: missing, but {path} has no column {code!r} ({wanted})"


def _of_original(where: str, name: str, originals: Iterable[str], known: Iterable[str], what: str) -> Problems:
    """Refuse a name that is unknown, or of an entry that itself refers to another one."""
    if name in known and name not in originals:
        yield f"{where}: {name!r} itself has `{where.rpartition('.')[2]}` (name its original, and repeat what differs)"
    else:
        yield from _unknown(where, [name], originals, what)


def _unknown(where: str, names: Iterable[str], known: Iterable[str], what: str) -> Problems:
    for name in names:
        if name not in known:
            yield f"{where}: unknown {what} {name!r} ({nearest(name, known)})"


def _unmatched(where: str, patterns: Iterable[str], cells: list[str]) -> Problems:
    for pattern in patterns:
        if not any(fnmatchcase(cell, pattern) for cell in cells):
            yield f"{where}: {pattern!r} matches no model ({nearest(pattern, cells)})"
