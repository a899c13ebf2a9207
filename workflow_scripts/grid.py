"""The grid: which models a study trains, and what each of them is (section 4 of the paper, Table 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
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
        return f"{self.cell}.s{self.seed}"

    @property
    def cell(self) -> str:
        """The name without the seed, as en-fr.default."""
        return f"{'-'.join(self.languages)}.{self.setting}"

    @property
    def bilingual(self) -> bool:
        """Whether it has two languages."""
        return len(self.languages) == 2


def trained_models(config: Config) -> list[Model]:
    """Return every model that the study trains, in the order of the config, without repeats."""
    study, models = config["study"], list[Model]()
    extra = [(pair_languages(cell.split(".")[0]), cell.split(".", 1)[1]) for cell in study["extra"]]
    alone = [((code,), MONO) for code in study["languages"]]
    for languages, setting in dict.fromkeys([*table_cells(config), *extra, *alone]):
        cell = f"{'-'.join(languages)}.{setting}"
        more = [g["seeds"] for g in study["more_seeds"] if any(fnmatchcase(cell, p) for p in g["models"])]
        seeds = dict.fromkeys([*study["seeds"], *(seed for some in more for seed in some)])
        models += [Model(languages, setting, seed) for seed in seeds]
    return models


def table_cells(config: Config) -> list[tuple[tuple[str, ...], str]]:
    """Return the crossings of pairs and settings that Table 1 is made from."""
    study = config["study"]
    crossings = [(pair, setting) for pair in study["pairs"] for setting in study["settings"]]
    return [
        (pair_languages(pair), setting)
        for pair, setting in crossings
        if not any(fnmatchcase(f"{pair}.{setting}", pattern) for pattern in study["skip"])
    ]


def pair_languages(pair: str) -> tuple[str, ...]:
    """Return the two codes of a pair's name."""
    return tuple(pair.split("-"))


def setting_of(config: Config, name: str) -> dict[str, Any]:
    """Return a setting with everything it does not say taken from Default, as the dashes of Table 1 mean."""
    return merge(config["settings"]["default"], config["settings"][name])


def language_of(config: Config, code: str) -> dict[str, Any]:
    """Return a language with everything a copy does not say taken from its original, without sources that are null."""
    language = dict(config["languages"][code])
    original = language.pop("copy_of", None)
    whole = merge(language_of(config, original), language) if original else language
    there = {key: value for key, value in whole.items() if value is not None or key not in SOURCES}
    return there | {"text": {domain: source for domain, source in whole["text"].items() if source is not None}}


def vocabulary_kind(config: Config, model: Model) -> str:
    """Return how the model's vocabulary is made: mono, joint, union, prefixed or separate."""
    if not model.bilingual:
        return "mono"
    setting = setting_of(config, model.setting)
    if setting["bpe"] == "joint":
        return "joint"
    if setting["separate"]["embeddings"]:
        return "separate"
    return "prefixed" if setting["anchors"] == "none" else "union"


def parts_of(vocabulary: str) -> tuple[list[str], str, str]:
    """Return the languages, the kind and the domain of a vocabulary named as en-fr.joint.wiki."""
    languages, kind, domain = vocabulary.split(".")
    return languages.split("-"), kind, domain


def domain_in(languages: Sequence[str], domain: str, code: str) -> str:
    """Return a language's domain in a vocabulary or a pair: the source language's is always wiki."""
    return domain if code == languages[-1] else "wiki"


def domain_of(config: Config, model: Model, language: str) -> str:
    """Return the domain of a language's text: only the other language of a pair ever has another than wiki."""
    domain = str(setting_of(config, model.setting)["domain"]) if model.bilingual else "wiki"
    return domain_in(model.languages, domain, language)


def domains_used(config: Config) -> dict[str, list[str]]:
    """Return the domains in which the study's models read each language; seeds make no difference."""
    read: dict[str, set[str]] = {}
    for model in {model.cell: model for model in trained_models(config)}.values():
        for code in model.languages:
            read.setdefault(code, set()).add(domain_of(config, model, code))
    return {code: sorted(domains) for code, domains in read.items()}


def study_languages(config: Config) -> list[str]:
    """Return the languages of all trained models, in the order in which they first occur."""
    return list(dict.fromkeys(code for model in trained_models(config) for code in model.languages))


def original_of(config: Config, code: str) -> str:
    """Return the language whose files a language reads: itself, or what it is a copy of."""
    original = config["languages"][code].get("copy_of")
    return original_of(config, original) if original else code


def describe_run(config: Config, model: Model) -> dict[str, Any]:
    """Return the content of a model's run.json: no commit and no date, so that it changes only with the experiment.

    A copy of a language reads the same text in an order of its own (en' of section 5.2).
    """
    setting, kind = _whole_setting(config, model), vocabulary_kind(config, model)
    merges = int(config["bpe"]["joint_merges" if kind == "joint" else "language_merges"])
    corpora = {
        code: {
            "text_of": original_of(config, code),
            "domain": domain_of(config, model, code),
            "switched": setting["anchors"] == "extra",
            "own_order": original_of(config, code) != code,
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
        "pretrain": deciding(_training(config, model)),
        "made_from": {"vocabulary": {"kind": kind, "merges": merges}, "corpus": corpora},
    }


def deciding(training: Config) -> dict[str, Any]:
    """Return what of a training section decides weights."""
    return {key: value for key, value in without_added(training).items() if key not in SAVING}


def without_added(section: Config) -> dict[str, Any]:
    """Return a section of the config without keys that say what was done before they existed."""
    return {key: value for key, value in section.items() if key not in ADDED or value != ADDED[key]}


def saving(config: Config, model: Model) -> dict[str, int]:
    """Return the rest: how often a model's training is saved and how many checkpoints are kept."""
    return {key: _training(config, model)[key] for key in SAVING}


def _training(config: Config, model: Model) -> dict[str, Any]:
    return merge(config["pretrain"], _whole_setting(config, model)["train"])


def _whole_setting(config: Config, model: Model) -> dict[str, Any]:
    if model.bilingual:
        return setting_of(config, model.setting)
    whole = {"separate": {"embeddings": False, "layers": 0}, "softmax": "shared", "anchors": "all"}
    return whole | {"train": config["monolingual"]["train"]}
