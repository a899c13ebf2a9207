"""The grid of models that a study trains, and the description of each model (section 4 of the paper, Table 1)."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain, product
from typing import Any

from workflow_scripts.config import Config, merge

MONO = "mono"
SAVING = ("save_every", "keep_checkpoints")  # these keys do not affect the weights
# Keys of pretrain, settings.*.separate, bpe, tasks and align.contextual that were added after the first results, with
# the value that gives the earlier behaviour. A key with that value is left out of run.json and of hashes, so that
# earlier results stay valid.
ADDED = {
    "language_share": "lines", "language_draws": "independent", "decay_from": 0.0, "start": "apart", "balance": "lines",
    "loss": "per-batch",
}  # fmt: skip
OWN = "own"  # the value of languages.*.vectors for vectors that are trained on the study's own text


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


class Grid:
    """The models, settings and languages of a study, derived from its config alone."""

    def __init__(self, config: Config) -> None:
        self.config, study = config, config["study"]
        self.source: str = study["source"]  # language of the fine-tuning data; the others are compared with it
        self.settings = {name: whole_setting(config["settings"], name) for name in config["settings"]}
        # A group consists of the models with the same languages and setting, one per seed: en-fr.default, en.mono, …
        combinations = [f"{pair}.{setting}" for pair, setting in product(study["pairs"], study["settings"])]
        self.table_groups = [group for group in combinations if not matches_any(group, study["skip"])]  # in Table 1
        monolingual = [f"{code}.{MONO}" for code in study["languages"]]
        names = [*self.table_groups, *study["extra"], *monolingual]  # extra: bilingual models for Figure 7 alone
        self.groups = {name: self._group(name) for name in names}
        self.models = {model.name: model for group in self.groups.values() for model in group}
        # All languages that models read; then the same with each copy (en2, English in another order) replaced by its
        # original.
        self.languages = list(dict.fromkeys(code for model in self.models.values() for code in model.languages))
        self.originals = list(dict.fromkeys(map(self.original, self.languages)))
        # Languages whose monolingual models are compared with those of the source language (section 5).
        others = [code for code in study["languages"] if code != self.source]
        self.compared: list[str] = others if self.source in study["languages"] else []

    def _group(self, name: str) -> list[Model]:
        study, (languages, setting) = self.config["study"], name.split(".", 1)
        more = [added["seeds"] for added in study["more_seeds"] if matches_any(name, added["models"])]
        return [Model(split_languages(languages), setting, s) for s in dict.fromkeys(chain(study["seeds"], *more))]

    @cached_property
    def domains(self) -> dict[str, list[str]]:
        """The domains of the text that models read in each language."""
        read: dict[str, set[str]] = {}
        for model, *_ in self.groups.values():
            for code in model.languages:
                read.setdefault(code, set()).add(self.domain_of(model, code))
        return {code: sorted(domains) for code, domains in read.items()}

    @cached_property
    def differing_updates(self) -> dict[str, int]:
        """The updates of bilingual settings that differ in nothing else, for the figure of transfer against updates."""
        families: dict[str, dict[str, int]] = {}
        for model in (model for model, *_ in self.groups.values() if model.bilingual):
            whole = self.setting_of(model) | {"train": self.training(model) | {"updates": 0}, "label": "", "group": ""}
            family = families.setdefault(json.dumps(whole, sort_keys=True), {})
            family[model.setting] = int(self.training(model)["updates"])
        several = [family for family in families.values() if len({*family.values()}) > 1]
        return {name: length for family in several for name, length in family.items()}

    def language(self, code: str) -> dict[str, Any]:
        """Return a language's entry without null keys, except `moses`, where null means that no Moses rules are used.

        A copy inherits the keys that it does not set itself.
        """
        languages, original = self.config["languages"], self.original(code)
        whole = languages[code] if original == code else merge(languages[original], languages[code])
        there = {key: value for key, value in whole.items() if value is not None or key == "moses"}
        return there | {"text": {domain: source for domain, source in whole["text"].items() if source is not None}}

    def original(self, code: str) -> str:
        """Return the language whose files are read: the language itself or, for a copy, its original."""
        return str(self.config["languages"][code].get("copy_of", code))

    def setting_of(self, model: Model) -> dict[str, Any]:
        """Return the full setting of a model; a monolingual model has a fixed one in which nothing is separate."""
        if model.bilingual:
            return self.settings[model.setting]
        whole = {"separate": {"embeddings": False, "layers": 0}, "softmax": "shared", "anchors": "all", "bpe": MONO}
        return whole | {"domain": "wiki", "train": self.config["monolingual"]["train"]}

    def vocabulary_kind(self, model: Model) -> str:
        """Return the kind of the model's vocabulary.

        mono: one language. joint: one BPE model for both languages. union, prefixed and separate have one BPE model per
        language: in union identical subwords are shared, in prefixed they are marked by language, so that none is
        shared, and separate is for separate embeddings.
        """
        setting = self.setting_of(model)
        if setting["bpe"] != "per-language":
            return str(setting["bpe"])
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
        """Return a model's run.json without the hashes of its vocabulary and text, which `Study.run` adds.

        It has no commit or date, so it changes only with the experiment.

        A language that is a copy (en' in section 5.2) uses the text of its original (`text_of`) in another order.
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
            "pretrain": affecting_weights(self.training(model)),
            "made_from": {"vocabulary": {"kind": kind, "merges": merges}, "corpus": corpora},
        }


def whole_setting(settings: Config, name: str) -> dict[str, Any]:
    """Return a setting in full; missing keys come from the setting named by `like`, then from Default."""
    like = settings.get(settings[name].get("like"), {})
    whole = merge(merge(settings["default"], like), settings[name])
    return {key: whole[key] for key in whole if key != "like"}


def matches_any(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name matches one of these patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def split_languages(pair: str) -> tuple[str, ...]:
    """Return the language codes in a name such as en-fr or en."""
    return tuple(pair.split("-"))


def parse_vocabulary(vocabulary: str) -> tuple[list[str], str, str]:
    """Return the languages, kind and domain of a vocabulary with a name such as en-fr.joint.wiki."""
    languages, kind, domain = vocabulary.split(".")
    return languages.split("-"), kind, domain


def domain_in(languages: Sequence[str], domain: str, code: str) -> str:
    """Return the domain of a language in a vocabulary or pair: `domain` for the last language, otherwise wiki."""
    return domain if code == languages[-1] else "wiki"


def affecting_weights(training: Config) -> dict[str, Any]:
    """Return the training options that affect the weights."""
    return {key: value for key, value in without_added(training).items() if key not in SAVING}


def without_added(section: Config) -> dict[str, Any]:
    """Return a config section without the keys whose value is the one in ADDED."""
    return {key: value for key, value in section.items() if key not in ADDED or value != ADDED[key]}
