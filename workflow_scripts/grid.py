"""The grid: which models a study trains, and what each of them is (section 4 of the paper, Table 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from workflow_scripts.config import Config, merge

MONO = "mono"
SAVING = ("save_every", "keep_checkpoints")  # how a run survives: no part of what it is
# Keys that were added later, with what was done before: at that value they are left out, so results stay valid.
ADDED = {"language_share": "lines", "language_draws": "independent", "start": "apart", "balance": "lines"}
OWN = "own"  # vectors that are trained on the study's own text
SOURCES = ("treebank", "ner", "dictionary", "muse", "tatoeba")  # of a language that can do without


@dataclass(frozen=True, order=True)
class Model:
    """One encoder: its languages (source first), its setting and its seed."""

    languages: tuple[str, ...]
    setting: str
    seed: int

    @property
    def name(self) -> str:
        """The public name, as en-fr.default.s1 or en.mono.s1."""
        return f"{'-'.join(self.languages)}.{self.setting}.s{self.seed}"

    @property
    def bilingual(self) -> bool:
        """Whether it has two languages."""
        return len(self.languages) == 2


@dataclass(frozen=True)
class Grid:
    """The models, settings and languages of a study, from its description alone."""

    config: Config

    @property
    def source(self) -> str:
        """The language that tasks are trained in, and that all others are compared with."""
        return str(self.config["study"]["source"])

    @cached_property
    def models(self) -> dict[str, Model]:
        """Every model that the study trains, by name, in the order of the config."""
        return {model.name: model for some in self.cells.values() for model in some}

    @cached_property
    def cells(self) -> dict[str, list[Model]]:
        """The same by cell, as en-fr.default: a model for every seed."""
        study, found = self.config["study"], dict[str, list[Model]]()
        extra = [(pair_languages(cell.split(".")[0]), cell.split(".", 1)[1]) for cell in study["extra"]]
        alone = [((code,), MONO) for code in study["languages"]]
        for languages, setting in [*self.table_cells, *extra, *alone]:
            cell = f"{'-'.join(languages)}.{setting}"
            more = [g["seeds"] for g in study["more_seeds"] if any(fnmatchcase(cell, p) for p in g["models"])]
            seeds = dict.fromkeys([*study["seeds"], *(seed for some in more for seed in some)])
            found[cell] = [Model(languages, setting, seed) for seed in seeds]
        return found

    @cached_property
    def table_cells(self) -> list[tuple[tuple[str, ...], str]]:
        """The crossings of pairs and settings that Table 1 is made from."""
        study = self.config["study"]
        crossings = [(pair, setting) for pair in study["pairs"] for setting in study["settings"]]
        return [
            (pair_languages(pair), setting)
            for pair, setting in crossings
            if not any(fnmatchcase(f"{pair}.{setting}", pattern) for pattern in study["skip"])
        ]

    @cached_property
    def languages(self) -> list[str]:
        """Codes of all languages that a model reads, in the order in which they first occur."""
        return list(dict.fromkeys(code for model in self.models.values() for code in model.languages))

    @cached_property
    def originals(self) -> list[str]:
        """Languages that have text of their own: all that are no copies."""
        return list(dict.fromkeys(map(self.original, self.languages)))

    @cached_property
    def domains(self) -> dict[str, list[str]]:
        """The domains in which models read each language; seeds make no difference."""
        read: dict[str, set[str]] = {}
        for model, *_ in self.cells.values():
            for code in model.languages:
                read.setdefault(code, set()).add(self.domain_of(model, code))
        return {code: sorted(domains) for code, domains in read.items()}

    @cached_property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Every setting with what it does not say, as in Default (the dashes of Table 1) or in the one it is like."""
        settings = self.config["settings"]
        bases = {name: merge(settings["default"], settings.get(own.get("like"), {})) for name, own in settings.items()}
        whole = {name: merge(bases[name], own) for name, own in settings.items()}
        return {name: {key: own[key] for key in own if key != "like"} for name, own in whole.items()}

    @cached_property
    def lengths(self) -> dict[str, int]:
        """The updates that models of each setting are trained for, or nothing where all settings have the same."""
        found = {
            model.setting: int(self.training(model)["updates"]) for model, *_ in self.cells.values() if model.bilingual
        }
        return found if len({*found.values()}) > 1 else {}

    def language(self, code: str) -> dict[str, Any]:
        """Return all that is known of a language, of a copy also from its original, without sources that are null."""
        language = dict(self.config["languages"][code])
        original = language.pop("copy_of", None)
        whole = merge(self.language(original), language) if original else language
        there = {key: value for key, value in whole.items() if value is not None or key not in SOURCES}
        return there | {"text": {domain: source for domain, source in whole["text"].items() if source is not None}}

    def original(self, code: str) -> str:
        """Return the language whose files a language reads: itself, or what it is a copy of."""
        original = self.config["languages"][code].get("copy_of")
        return self.original(original) if original else code

    def setting_of(self, model: Model) -> dict[str, Any]:
        """Return the whole setting of a model; one of a single language shares all that it has with none."""
        if model.bilingual:
            return self.settings[model.setting]
        whole = {"separate": {"embeddings": False, "layers": 0}, "softmax": "shared", "anchors": "all"}
        return whole | {"domain": "wiki", "train": self.config["monolingual"]["train"]}

    def vocabulary_kind(self, model: Model) -> str:
        """Return how the model's vocabulary is made: mono, joint, union, prefixed or separate."""
        if not model.bilingual:
            return "mono"
        setting = self.settings[model.setting]
        if setting["bpe"] == "joint":
            return "joint"
        if setting["separate"]["embeddings"]:
            return "separate"
        return "prefixed" if setting["anchors"] == "none" else "union"

    def domain_of(self, model: Model, language: str) -> str:
        """Return the domain of a language's text: only the other language of a pair ever has another than wiki."""
        return domain_in(model.languages, self.setting_of(model)["domain"], language)

    def training(self, model: Model) -> dict[str, Any]:
        """Return the training section of a model: what its setting does not say is that of all."""
        return merge(self.config["pretrain"], self.setting_of(model)["train"])

    def describe_run(self, model: Model) -> dict[str, Any]:
        """Return the content of a model's run.json: no commit and no date, so that it changes only with the experiment.

        A copy of a language reads the same text in an order of its own (en' of section 5.2).
        """
        config, setting, kind = self.config, self.setting_of(model), self.vocabulary_kind(model)
        merges = int(config["bpe"]["joint_merges" if kind == "joint" else "language_merges"])
        corpora = {
            code: {
                "text_of": self.original(code),
                "domain": self.domain_of(model, code),
                "switched": setting["anchors"] == "extra",
                "own_order": self.original(code) != code,
            }
            for code in model.languages
        }
        return {
            "model": model.name,
            "languages": list(model.languages),
            "selection_language": model.languages[0],
            "seed": model.seed,
            "shape": dict(config["model"]),
            "separate": without_added(setting["separate"]),
            "softmax": setting["softmax"],
            "pretrain": deciding(self.training(model)),
            "made_from": {"vocabulary": {"kind": kind, "merges": merges}, "corpus": corpora},
        }


def pair_languages(pair: str) -> tuple[str, ...]:
    """Return the two codes of a pair's name."""
    return tuple(pair.split("-"))


def parts_of(vocabulary: str) -> tuple[list[str], str, str]:
    """Return the languages, the kind and the domain of a vocabulary named as en-fr.joint.wiki."""
    languages, kind, domain = vocabulary.split(".")
    return languages.split("-"), kind, domain


def domain_in(languages: Sequence[str], domain: str, code: str) -> str:
    """Return a language's domain in a vocabulary or a pair: the source language's is always wiki."""
    return domain if code == languages[-1] else "wiki"


def deciding(training: Config) -> dict[str, Any]:
    """Return what of a training section decides weights."""
    return {key: value for key, value in without_added(training).items() if key not in SAVING}


def without_added(section: Config) -> dict[str, Any]:
    """Return a section of the config without keys that say what was done before they existed."""
    return {key: value for key, value in section.items() if key not in ADDED or value != ADDED[key]}
