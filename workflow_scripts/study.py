"""A checked study as the rules see it: where every file is and which files a model is made from."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from workflow_scripts.checks import check
from workflow_scripts.config import Config, ConfigError, expand_path, read_yaml
from workflow_scripts.files import parallel_sides, tatoeba_files
from workflow_scripts.grid import (
    Model,
    domain_of,
    domains_used,
    language_of,
    original_of,
    pair_languages,
    setting_of,
    study_languages,
    trained_models,
    vocabulary_kind,
)
from workflow_scripts.identity import Identity
from workflow_scripts.runs import resolve_run, saving
from workflow_scripts.sources import datasets_by_file

EXIT_BAD_CONFIG = 2
SPLITS = ("train", "dev", "test")


def load_study(config: Config, files: Iterable[str | Path] = (), revisions: Mapping[str, int] | None = None) -> "Study":
    """Check a merged description and the files it came from; on a problem say it in one line and leave."""
    try:
        for path in files:
            read_yaml(Path(path))
        check(config)
        return Study(config, revisions or {})
    except ConfigError as error:
        print(error, file=sys.stderr, flush=True)
        sys.exit(EXIT_BAD_CONFIG)


def use_this_interpreter() -> None:
    """Let jobs find the interpreter that runs Snakemake first; an activated conda environment still comes before it."""
    here = str(Path(sys.executable).parent)
    if os.environ.get("PATH", "").split(os.pathsep)[0] != here:
        os.environ["PATH"] = os.pathsep.join([here, os.environ.get("PATH", "")])


@dataclass(frozen=True)
class Study:
    """Paths and choices of one study, and revisions of the code that makes it; methods answer what the rules ask."""

    config: Config
    revisions: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def results(self) -> Path:
        """The folder of this study's outputs."""
        return expand_path(self.config["study"]["results"]) / str(self.config["study"]["name"])

    @cached_property
    def root(self) -> Path:
        """The folder of all raw data."""
        return expand_path(self.config["data"]["root"])

    @cached_property
    def models(self) -> dict[str, Model]:
        """Every model that the study trains, by name."""
        return {model.name: model for model in trained_models(self.config)}

    @cached_property
    def trained(self) -> list[str]:
        """Names of the models that are trained."""
        return list(self.models)

    @cached_property
    def languages(self) -> list[str]:
        """Codes of all languages that a model reads."""
        return study_languages(self.config)

    @property
    def generated(self) -> bool:
        """Whether the raw data is made by the embedded generator."""
        return bool(self.config["data"]["origin"] == "generated")

    def raw(self, *parts: str) -> str:
        """Return the path of a raw file."""
        return str(self.root.joinpath(*parts))

    def language(self, code: str) -> dict[str, Any]:
        """Return everything known of a language."""
        return language_of(self.config, code)

    def raw_text(self, code: str, domain: str) -> list[str]:
        """Return the raw text files of a language and domain."""
        return [self.raw(path) for path in self.language(code)["text"][domain]["files"]]

    def original(self, code: str) -> str:
        """Return the language whose text a language reads."""
        return original_of(self.config, code)

    @cached_property
    def identity(self) -> Identity:
        """The hashes of everything that the study makes."""
        return Identity(self)

    def run(self, name: str) -> dict[str, Any]:
        """Return a model's resolved description, with the hashes of the vocabulary and the streams it is made from."""
        described = resolve_run(self.config, self.models[name])
        made_from = described["made_from"]
        made_from["vocabulary"]["hash"] = self.identity.vocabulary(self.vocabulary(name))
        for code, stream in self.streams(name).items():
            made_from["corpus"][code]["hash"] = self.identity.stream(stream)
        return described

    def saving(self, name: str) -> dict[str, int]:
        """Return how often a model's training is saved, which decides nothing of it."""
        return saving(self.config, self.models[name])

    def run_json(self, name: str) -> str:
        """Return a model's resolved description as one line of JSON."""
        return json.dumps(self.run(name), sort_keys=True)

    def vocabulary(self, name: str) -> str:
        """Return the name of a model's vocabulary, as en-fr.joint.wiki."""
        model = self.models[name]
        domain = domain_of(self.config, model, model.languages[-1])
        return f"{'-'.join(model.languages)}.{vocabulary_kind(self.config, model)}.{domain}"

    def streams(self, name: str) -> dict[str, str]:
        """Return the token streams that a model reads, by language.

        A language with a vocabulary of its own has the same ids as its monolingual model: those streams serve both.
        """
        model, vocabulary = self.models[name], self.vocabulary(name)
        kind = vocabulary_kind(self.config, model)
        variant = "switched" if self.anchors(name) == "extra" else "plain"
        domains = {code: domain_of(self.config, model, code) for code in model.languages}
        if kind == "separate":
            return {code: f"{code}.mono.{domain}/{code}.plain" for code, domain in domains.items()}
        return {code: f"{vocabulary}/{code}.{variant}" for code in model.languages}

    def tokeniser(self, code: str) -> dict[str, Any]:
        """Return the options of a language's tokeniser."""
        language, text = self.language(code), self.config["text"]
        dictionary = language.get("segmenter_dictionary")
        stanford = language["segmenter"] == "stanford"
        return {
            "language": self.original(code),
            "moses": language["moses"],
            "segmenter": language["segmenter"],
            "dictionary": self.raw(dictionary) if dictionary and not stanford else None,
            "stanford_home": self.raw(dictionary) if dictionary and stanford else None,
            "script": text["han_script"] if language["script"] == "Han" else "none",
            "lowercase": text["lowercase"],
            "strip_accents": text["strip_accents"],
        }

    def task_files(self, kind: str) -> dict[tuple[str, str, str], dict[str, str]]:
        """Return path and format of each raw task file, by language, data set and split: nli, ner or parsing."""
        files = {"nli": self._nli_files, "ner": self._ner_files, "parsing": self._tree_files}[kind]()
        return {key: {"path": self.raw(path), "format": form} for key, (path, form) in files.items()}

    def _nli_files(self) -> dict[tuple[str, str, str], tuple[str, str]]:
        source, paths = self.config["study"]["source"], self.config["data"]["nli"]
        evaluated = {(code, "xnli", "test"): (paths["test"], "xnli") for code in self.task_languages}
        english = {
            (source, "xnli", "train"): (paths["train"], "xnli-mt"),
            (source, "xnli", "dev"): (paths["dev"], "xnli"),
        }
        return english | evaluated

    def _ner_files(self) -> dict[tuple[str, str, str], tuple[str, str]]:
        files: dict[tuple[str, str, str], tuple[str, str]] = {}
        for pair in self.config["study"]["pairs"]:
            for code, role in zip(pair_languages(pair), ("train", "test"), strict=True):
                name = self.config["pairs"][pair]["ner"][role]
                data = self.language(code)["ner"][name]
                splits = SPLITS if role == "train" else ("test",)
                files |= {(code, name, split): (data[split], data["format"]) for split in splits}
        return files

    def _tree_files(self) -> dict[tuple[str, str, str], tuple[str, str]]:
        source = self.config["study"]["source"]
        splits = {code: SPLITS if code == source else ("test",) for code in self.task_languages}
        banks = {code: self.language(code)["treebank"] for code in self.task_languages}
        return {(code, "ud", split): (banks[code][split], "conllu") for code in banks for split in splits[code]}

    @cached_property
    def task_languages(self) -> list[str]:
        """Languages that tasks are evaluated in: the source and the columns of Table 1."""
        return list(dict.fromkeys(code for pair in self.config["study"]["pairs"] for code in pair_languages(pair)))

    @cached_property
    def parallel_sides(self) -> dict[str, str | None]:
        """Languages that parallel sentences are read in, with a file of their own where the table has no column."""
        return parallel_sides(self.config)

    def generated_of(self, code: str) -> list[str]:
        """Return the raw files that the generator writes for one language."""
        language = self.language(code)
        texts = [path for source in language["text"].values() for path in source["files"]]
        entities = [data[split] for data in language.get("ner", {}).values() for split in SPLITS if split in data]
        single = [language[key] for key in ("vectors", "segmenter_dictionary") if language.get(key)]
        paths = [*texts, *language.get("treebank", {}).values(), *entities, *single]
        return [self.raw(path) for path in dict.fromkeys(paths)]

    def generated_together(self) -> list[str]:
        """Return the raw files that the generator writes for all languages at once, dictionaries aside."""
        data, languages = self.config["data"], [self.language(code) for code in self.languages]
        paths = [*data["nli"].values(), data["parallel"]]
        paths += [language["parallel"] for language in languages if language.get("parallel")]
        others = [code for code in self.originals if code != self.config["study"]["source"]]
        paths += [path for code in others for path in self.language(code).get("muse", {}).values()]
        return [self.raw(path) for path in [*dict.fromkeys(paths), *tatoeba_files(self.config)]]

    def dictionary_folders(self) -> list[str]:
        """Return where the dictionaries for code-switching are."""
        entries = [self.language(code).get("dictionary") for code in self.originals]
        return sorted({self.raw(entry["path"]) for entry in entries if entry})

    @cached_property
    def originals(self) -> list[str]:
        """Languages that have text of their own: all that are no copies."""
        return list(dict.fromkeys(self.original(code) for code in self.languages))

    @cached_property
    def _datasets(self) -> dict[PurePosixPath, dict[str, list[dict[str, Any]]]]:
        return datasets_by_file(self.config)

    def datasets_of(self, paths: Iterable[str]) -> list[str]:
        """Return the published datasets that bring these raw files."""
        below = [PurePosixPath(Path(path).relative_to(self.root)) for path in paths]
        return sorted({name for path in below for name in self._datasets.get(path, {})})

    def requests(self, dataset: str) -> str:
        """Return what to ask of a dataset for this study, as JSON."""
        asked = [request for found in self._datasets.values() for request in found.get(dataset, [])]
        unique = {json.dumps(request, sort_keys=True): request for request in asked}
        return json.dumps([unique[key] for key in sorted(unique)], sort_keys=True)

    def traits(self) -> dict[str, Any]:
        """Return the traits of all embedded languages, the source first."""
        source = self.config["study"]["source"]
        codes = sorted(self.originals, key=lambda code: code != source)
        return {code: self.config["synthetic"]["languages"][code] for code in codes}

    def trimmed_to(self, code: str, domain: str) -> list[str]:
        """Return the domains whose smaller one a corpus is trimmed to: Wiki-CC takes as much text as Default has."""
        domains = domains_used(self.config, code)
        return domains if domain == "crawl" and len(domains) > 1 else []

    def anchors(self, name: str) -> str:
        """Return whether a model has all, none or extra anchors."""
        model = self.models[name]
        return str(setting_of(self.config, model.setting)["anchors"]) if model.bilingual else "all"
