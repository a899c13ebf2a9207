"""Resolves what one model is trained from into a run description: everything, and nothing that moves by itself."""

from typing import Any

from workflow_scripts.config import Config, merge
from workflow_scripts.grid import Model, domain_of, original_of, setting_of, vocabulary_kind

SAVING = ("save_every", "keep_checkpoints")  # how a run survives: no part of what it is


def resolve_run(config: Config, model: Model) -> dict[str, Any]:
    """Return the content of a model's run.json: no commit and no date, so that it changes only with the experiment."""
    setting = _setting(config, model)
    return {
        "model": model.name,
        "languages": list(model.languages),
        "selection_language": model.languages[0],
        "seed": model.seed,
        "shape": dict(config["model"]),
        "separate": dict(setting["separate"]),
        "softmax": setting["softmax"],
        "pretrain": deciding(_training(config, model)),
        "made_from": {
            "vocabulary": {"kind": vocabulary_kind(config, model), "merges": _merges(config, model)},
            "corpus": {code: _corpus(config, model, code) for code in model.languages},
        },
    }


def deciding(training: Config) -> dict[str, Any]:
    """Return what of a training section decides weights."""
    return {key: value for key, value in training.items() if key not in SAVING}


def saving(config: Config, model: Model) -> dict[str, int]:
    """Return the rest: how often a model's training is saved and how many checkpoints are kept."""
    return {key: _training(config, model)[key] for key in SAVING}


def _training(config: Config, model: Model) -> dict[str, Any]:
    return merge(config["pretrain"], _setting(config, model)["train"])


def _setting(config: Config, model: Model) -> dict[str, Any]:
    if model.bilingual:
        return setting_of(config, model.setting)
    whole = {"separate": {"embeddings": False, "layers": 0}, "softmax": "shared", "anchors": "all"}
    return whole | {"train": config["monolingual"]["train"]}


def _merges(config: Config, model: Model) -> int:
    return int(config["bpe"]["joint_merges" if vocabulary_kind(config, model) == "joint" else "language_merges"])


def _corpus(config: Config, model: Model, code: str) -> dict[str, Any]:
    """A copy of a language reads the same text in an order of its own (en' of section 5.2)."""
    copied = original_of(config, code) != code
    return {
        "text_of": original_of(config, code),
        "domain": domain_of(config, model, code),
        "switched": model.bilingual and _setting(config, model)["anchors"] == "extra",
        "own_order": copied,
    }
