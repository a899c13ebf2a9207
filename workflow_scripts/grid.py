"""The grid of models that a study trains, and the description of each model (section 4 of the paper, Table 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from workflow_scripts.config import Config, merge

MONO = "mono"
SAVING = ("save_every", "keep_checkpoints")  # these keys do not affect the weights
# Keys added after the first results, with the value that gives the earlier behaviour. A key with that value is left out
# of hashes, so that earlier results stay valid.
ADDED = {"language_share": "lines", "language_draws": "independent", "start": "apart", "balance": "lines"}
OWN = "own"  # value of `vectors` for vectors trained on the study's own text
SOURCES = ("treebank", "ner", "dictionary", "muse", "tatoeba")  # optional sources of a language


@dataclass(frozen=True, order=True)
class Model:
    """One encoder: its languages (source language first), its setting and its seed."""

    languages: tuple[str, ...]
    setting: str
    seed: int

    @property
    def name(self) -> str:
        """The public name, such as en-fr.default.s1 or en.mono.s1."""
        return f"{'-'.join(self.languages)}.{self.setting}.s{self.seed}"

    @property
    def bilingual(self) -> bool:
        """Whether the model has two languages."""
        return len(self.languages) == 2


@dataclass(frozen=True)
class Grid:
    """The models, settings and languages of a study, derived from its description only."""

    config: Config

    @property
    def source(self) -> str:
        """The source language: tasks are trained in it, and all other languages are compared with it."""
        return str(self.config["study"]["source"])

    @cached_property
    def models(self) -> dict[str, Model]:
        """Every model that the study trains, by name, in the order of the config."""
        return {model.name: model for some in self.cells.values() for model in some}

    @cached_property
    def cells(self) -> dict[str, list[Model]]:
        """The models of every cell, such as en-fr.default: one model per seed."""
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
        """The combinations of pair and setting in Table 1, without those that match study.skip."""
        study = self.config["study"]
        crossings = [(pair, setting) for pair in study["pairs"] for setting in study["settings"]]
        return [
            (pair_languages(pair), setting)
            for pair, setting in crossings
            if not any(fnmatchcase(f"{pair}.{setting}", pattern) for pattern in study["skip"])
        ]

    @cached_property
    def languages(self) -> list[str]:
        """Codes of all languages that models read, in order of first occurrence."""
        return list(dict.fromkeys(code for model in self.models.values() for code in model.languages))

    @cached_property
    def originals(self) -> list[str]:
        """Languages that are not copies: a copy is replaced by the language that it is a copy of."""
        return list(dict.fromkeys(map(self.original, self.languages)))

    @cached_property
    def domains(self) -> dict[str, list[str]]:
        """The domains of the text that models read in each language."""
        read: dict[str, set[str]] = {}
        for model, *_ in self.cells.values():
            for code in model.languages:
                read.setdefault(code, set()).add(self.domain_of(model, code))
        return {code: sorted(domains) for code, domains in read.items()}

    @cached_property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Every setting in full; missing keys come from the setting named by `like`, then from Default."""
        settings = self.config["settings"]
        bases = {name: merge(settings["default"], settings.get(own.get("like"), {})) for name, own in settings.items()}
        whole = {name: merge(bases[name], own) for name, own in settings.items()}
        return {name: {key: own[key] for key in own if key != "like"} for name, own in whole.items()}

    @cached_property
    def lengths(self) -> dict[str, int]:
        """The number of training updates of each bilingual setting; empty if all settings have the same number."""
        found = {
            model.setting: int(self.training(model)["updates"]) for model, *_ in self.cells.values() if model.bilingual
        }
        return found if len({*found.values()}) > 1 else {}

    def language(self, code: str) -> dict[str, Any]:
        """Return the entry of a language without null sources; a copy inherits the entry of its original."""
        languages, original = self.config["languages"], self.original(code)
        whole = languages[code] if original == code else merge(languages[original], languages[code])
        there = {key: value for key, value in whole.items() if value is not None or key not in SOURCES}
        return there | {"text": {domain: source for domain, source in whole["text"].items() if source is not None}}

    def original(self, code: str) -> str:
        """Return the language whose files are read: the language itself or, for a copy, its original."""
        return str(self.config["languages"][code].get("copy_of", code))

    def setting_of(self, model: Model) -> dict[str, Any]:
        """Return the full setting of a model; a monolingual model has a fixed one in which nothing is separate."""
        if model.bilingual:
            return self.settings[model.setting]
        whole = {"separate": {"embeddings": False, "layers": 0}, "softmax": "shared", "anchors": "all"}
        return whole | {"domain": "wiki", "train": self.config["monolingual"]["train"]}

    def vocabulary_kind(self, model: Model) -> str:
        """Return the kind of the model's vocabulary: mono, joint, union, prefixed or separate."""
        if not model.bilingual:
            return "mono"
        setting = self.settings[model.setting]
        if setting["bpe"] == "joint":
            return "joint"
        if setting["separate"]["embeddings"]:
            return "separate"
        return "prefixed" if setting["anchors"] == "none" else "union"

    def domain_of(self, model: Model, language: str) -> str:
        """Return the domain of a language's text; only the second language of a pair can have one other than wiki."""
        return domain_in(model.languages, self.setting_of(model)["domain"], language)

    def training(self, model: Model) -> dict[str, Any]:
        """Return the training options of a model: the section `pretrain`, with the overrides of its setting."""
        return merge(self.config["pretrain"], self.setting_of(model)["train"])

    def describe_run(self, model: Model) -> dict[str, Any]:
        """Return the content of a model's run.json; it has no commit or date, so it changes only with the experiment.

        A copy of a language reads the text of the original in a different order (en' in section 5.2).
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
    """Return the two language codes in the name of a pair."""
    return tuple(pair.split("-"))


def parts_of(vocabulary: str) -> tuple[list[str], str, str]:
    """Return the languages, kind and domain of a vocabulary with a name such as en-fr.joint.wiki."""
    languages, kind, domain = vocabulary.split(".")
    return languages.split("-"), kind, domain


def domain_in(languages: Sequence[str], domain: str, code: str) -> str:
    """Return the domain of a language in a vocabulary or pair: `domain` for the last language, otherwise wiki."""
    return domain if code == languages[-1] else "wiki"


def deciding(training: Config) -> dict[str, Any]:
    """Return the training options that affect the weights."""
    return {key: value for key, value in without_added(training).items() if key not in SAVING}


def without_added(section: Config) -> dict[str, Any]:
    """Return a config section without the keys of ADDED that have their earlier value."""
    return {key: value for key, value in section.items() if key not in ADDED or value != ADDED[key]}
