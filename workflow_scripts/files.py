"""Which raw files a study reads."""

from pathlib import Path

from workflow_scripts.config import Config, expand_path
from workflow_scripts.grid import (
    OWN,
    domains_used,
    language_of,
    original_of,
    pair_languages,
    setting_of,
    study_languages,
    trained_models,
)

TREE_TASKS = {"parsing", "pos"}


def needed_files(config: Config) -> dict[str, Path]:
    """Return every raw file that the study reads, by the key path that names it."""
    root = expand_path(config["data"]["root"])
    tasks = set(config["study"]["tasks"])
    files = {f"data.nli.{split}": path for split, path in config["data"]["nli"].items() if "xnli" in tasks}
    files["data.parallel"] = config["data"]["parallel"]
    files |= {f"data.tatoeba ({Path(path).name})": path for path in tatoeba_files(config)}
    for code in study_languages(config):
        files |= _files_of_language(config, code)
    return {key: root / path for key, path in files.items()}


def tatoeba_files(config: Config) -> list[str]:
    """Return both sides of the Tatoeba test set of every language but the source."""
    source, folder = config["study"]["source"], config["data"]["tatoeba"]
    originals = dict.fromkeys(original_of(config, code) for code in study_languages(config))
    codes = {code: language_of(config, code).get("tatoeba") for code in originals}
    if not codes.get(source):
        return []
    others = [name for code, name in codes.items() if name and code != source]
    return [f"{folder}/tatoeba.{other}-{codes[source]}.{side}" for other in others for side in (other, codes[source])]


def paths_of_language(config: Config, code: str) -> list[str]:
    """Return the raw files that a language brings into the study, as they are written below the data root."""
    sentences = f"tatoeba.{language_of(config, code).get('tatoeba')}-"
    pairs = [path for path in tatoeba_files(config) if Path(path).name.startswith(sentences)]
    return [*_files_of_language(config, code).values(), *pairs]


def parallel_sides(config: Config) -> dict[str, str | None]:
    """Return the languages that parallel sentences are read in, with a file of their own where the table has no column.

    A copy without such a file is not among them: it reads its original's.
    """
    sides = {code: language_of(config, code).get("parallel") for code in study_languages(config)}
    return {code: path for code, path in sides.items() if path or original_of(config, code) == code}


def sources_of_language(config: Config, code: str) -> dict[str, str]:
    """Return what should be of one language alone, by key path: its files, and its codes in collections.

    A dump of PanLex holds all languages, and varieties of one may well be segmented with the same words.
    """
    language, where = language_of(config, code), f"languages.{code}"
    dictionary = language.get("dictionary", {})
    shared = {f"{where}.segmenter_dictionary"}
    shared |= {f"{where}.dictionary.path"} if dictionary.get("format") == "panlex" else set()
    files = {key: path for key, path in _files_of_language(config, code).items() if key not in shared}
    codes = {f"{where}.tatoeba": language.get("tatoeba"), f"{where}.dictionary.code": dictionary.get("code")}
    return files | {key: name for key, name in codes.items() if name}


def switched_languages(config: Config) -> list[str]:
    """Return the languages whose dictionary from the source language is used for code-switching."""
    models = [model for model in trained_models(config) if model.bilingual]
    return sorted({m.languages[1] for m in models if setting_of(config, m.setting)["anchors"] == "extra"})


def ner_sets_used(config: Config, code: str) -> list[str]:
    """Return the NER data sets of a language that the study's pairs name, if it has the task at all."""
    if "ner" not in config["study"]["tasks"]:
        return []
    pairs = [(pair_languages(pair), config["pairs"][pair]["ner"]) for pair in config["study"]["pairs"]]
    used = [
        ner[role] for codes, ner in pairs for owner, role in zip(codes, ("train", "test"), strict=True) if owner == code
    ]
    return sorted(set(used))


def _files_of_language(config: Config, code: str) -> dict[str, str]:
    language, where = language_of(config, code), f"languages.{code}"
    files: dict[str, str] = {}
    for domain in domains_used(config, code):
        files |= {f"{where}.text.{domain}.files[{i}]": path for i, path in enumerate(language["text"][domain]["files"])}
    if TREE_TASKS & set(config["study"]["tasks"]):
        files |= {f"{where}.treebank.{split}": path for split, path in language.get("treebank", {}).items()}
    for name in ner_sets_used(config, code):
        data = language["ner"][name]
        files |= {f"{where}.ner.{name}.{split}": data[split] for split in ("train", "dev", "test") if split in data}
    files |= {f"{where}.muse.{split}": path for split, path in language.get("muse", {}).items()}
    if code in switched_languages(config):
        files[f"{where}.dictionary.path"] = language["dictionary"]["path"]
    single = {key: language.get(key) for key in ("vectors", "parallel", "segmenter_dictionary")}
    return files | {f"{where}.{key}": path for key, path in single.items() if path and path != OWN}
