"""Two toy languages, tiny encoders, and tasks that can be learnt from them in seconds."""

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from xling.bpe.build_vocabulary import write_vocabulary
from xling.bpe.train_bpe import fit
from xling.bpe.vocabulary import Vocabulary
from xling.model.encoder import Encoder
from xling.model.files import save_encoder
from xling.pretrain.config import read_run

NOUNS = ("table", "cat", "horse", "river")
VERBS = ("sees", "eats", "likes")
NAMES = ("paris", "tom", "acme")
TYPES = {"paris": "LOC", "tom": "PER", "acme": "ORG"}
RENAMED = {
    "the": "le",
    "cat": "chat",
    "horse": "cheval",
    "river": "fleuve",
    "sees": "voit",
    "eats": "mange",
    "likes": "aime",
    "not": "pas",
}

RUN: dict[str, Any] = {
    "model": "en-fr.toy.s1", "languages": ["en", "fr"], "selection_language": "en", "seed": 1,
    "shape": {
        "layers": 2, "width": 16, "heads": 2, "feedforward": 32, "activation": "relu", "dropout": 0.1,
        "attention_dropout": 0.1, "norm": "pre", "norm_eps": 1e-12, "positions": 32, "language_embeddings": True,
    },
    "separate": {"embeddings": False, "layers": 0},
    "softmax": "shared",
    "pretrain": {
        "sequences": "lines", "length": 24, "micro_batch_tokens": 128, "micro_batches": 2, "updates": 4,
        "language_exponent": 0.7, "mask_rate": 0.3, "mask_share": 0.8, "random_share": 0.1,
        "random_words": "language", "lr": 3e-3, "warmup": 1, "warmup_from": 1e-7, "schedule": "linear",
        "final_lr_share": 0.0, "betas": [0.9, 0.98], "eps": 1e-6, "weight_decay": 0.01, "clip": 1.0,
        "precision": "float32", "validate_every": 4, "validation_tokens": 200, "save_every": 4, "keep_checkpoints": 1,
    },
}  # fmt: skip

SETTINGS: dict[str, Any] = {
    "epochs": 3, "examples_per_epoch": None, "schedule": "linear", "warmup_share": 0.1,
    "grid": {"batch": [8], "encoder_lr": [1e-3, 1e-2], "head_lr": None}, "best": 1, "points_per_job": 2,
}  # fmt: skip
BIAFFINE = {"arc": 48, "label": 24, "dropout": 0.1, "input_dropout": 0.1}


def settings_json(task: str, **changes: Any) -> str:
    """Return a task's section of the configuration."""
    section = copy.deepcopy(SETTINGS) | changes
    return json.dumps(section | ({"biaffine": BIAFFINE} if task == "parsing" else {}))


def in_language(words: list[str], language: str) -> list[str]:
    return [RENAMED.get(word, word) for word in words] if language == "fr" else words


def sentence(rng: np.random.Generator) -> tuple[list[str], list[str], list[int], list[str], list[str]]:
    """Return words, tags, heads, relations and parts of speech: [the noun | name] verb [the noun | name] ."""
    words, tags, heads, relations, parts = [], [], [], [], []
    verb_place = 2 + (first_is_noun := bool(rng.random() < 0.5))
    for role, is_noun in (("nsubj", first_is_noun), ("obj", bool(rng.random() < 0.5))):
        if role == "obj":
            words.append(VERBS[rng.integers(len(VERBS))])
            tags.append("O"), heads.append(0), relations.append("root"), parts.append("VERB")
        if is_noun:
            words += ["the", NOUNS[rng.integers(len(NOUNS))]]
            tags += ["O", "O"]
            heads += [len(words), verb_place]
            relations += ["det", role]
            parts += ["DET", "NOUN"]
        else:
            words.append(NAMES[rng.integers(len(NAMES))])
            (
                tags.append("B-" + TYPES[words[-1]]),
                heads.append(verb_place),
                relations.append(role),
                parts.append("PROPN"),
            )
    return [*words, "."], [*tags, "O"], [*heads, verb_place], [*relations, "punct"], [*parts, "PUNCT"]


def record(task: str, language: str, rng: np.random.Generator) -> dict[str, Any]:
    words, tags, heads, relations, parts = sentence(rng)
    words = in_language(words, language)
    if task == "xnli":
        label = ("entailment", "neutral", "contradiction")[rng.integers(3)]
        other = in_language(sentence(rng)[0], language)
        negated = in_language(["not"], language) + words
        hypothesis = {"entailment": words, "neutral": other, "contradiction": negated}[label]
        return {"premise": words, "hypothesis": hypothesis, "label": label}
    if task == "ner":
        return {"words": words, "tags": tags}
    return {"words": words, "heads": heads, "deprels": relations, "upos": parts}


def write_records(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def write_set(path: Path, task: str, language: str, count: int, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    return write_records(path, [record(task, language, rng) for _ in range(count)])


def all_words(language: str) -> list[str]:
    return in_language(["the", "not", ".", *NOUNS, *VERBS, *NAMES], language)


def write_model(folder: Path, embeddings: bool | str = False, layers: int = 0, seed: int = 1) -> tuple[Path, Path]:
    """Write a vocabulary and an encoder with random weights; return their folders."""
    models = {}
    for code in ("en", "fr"):
        models[code] = folder / f"{code}.model"
        models[code].parent.mkdir(parents=True, exist_ok=True)
        models[code].write_bytes(fit(Counter(dict.fromkeys(all_words(code), 10)), 25))
    kind = "separate" if embeddings else "union"
    write_vocabulary(kind, models, folder / "vocab")
    described = copy.deepcopy(RUN)
    described["separate"] = {"embeddings": embeddings, "layers": layers}
    described["softmax"] = "per-language" if embeddings else "shared"
    (folder / "encoder").mkdir(exist_ok=True)
    path = folder / "encoder" / "run.json"
    path.write_text(json.dumps(described))
    vocabulary, parsed = Vocabulary.load(folder / "vocab"), read_run(path)
    sizes = {code: vocabulary.size_of(code) for code in parsed.languages}
    save_encoder(Encoder(parsed.model_config(sizes, path), seed), folder / "encoder")
    return folder / "vocab", folder / "encoder"


def command(folder: Path, task: str, model: tuple[Path, Path], out: str, **changes: Any) -> list[str]:
    """Return the flags of a job on toy data, which is written once per folder and task."""
    files = {}
    for name, language, count, seed in (("train", "en", 150, 1), ("dev", "en", 24, 2), ("test", "fr", 24, 3)):
        files[name] = folder / f"{task}.{name}.jsonl"
        if not files[name].is_file():
            write_set(files[name], task, language, count, seed)
    given: dict[str, Any] = {
        "task": task, "encoder": model[1], "vocab": model[0], "train": files["train"], "dev": files["dev"],
        "test": f"fr={files['test']}", "settings": settings_json(task), "points": "0,1", "seed": 7,
        "work": folder / f"{out}.work", "config-hash": "abc", "device": "cpu", "out": folder / f"{out}.json",
    }  # fmt: skip
    given |= {name.replace("_", "-"): value for name, value in changes.items()}
    return [part for name, value in given.items() for part in (f"--{name}", str(value))]


def together_command(folder: Path, tasks: tuple[str, ...], model: tuple[Path, Path], out: str) -> list[str]:
    """Return the flags of one process that does several tasks on the same toy data."""
    jobs = []
    for task in tasks:
        flags = command(folder, task, model, out)
        own = dict(zip(flags[::2], flags[1::2], strict=True))
        test = dict([own["--test"].split("=")])
        job = {"task": task, "train": own["--train"], "dev": own["--dev"], "test": test, "config": "abc"}
        jobs.append(json.dumps({**job, "settings": json.loads(own["--settings"])}))
    given = {"encoder": model[1], "vocab": model[0], "seed": 7, "device": "cpu"}
    given |= {"work-below": folder / f"{out}.work", "out-dir": folder / out}
    return [*(part for name, value in given.items() for part in (f"--{name}", str(value))), "--jobs", *jobs]


def job_process(arguments: list[str], die_after: int | None, log: str, module: str = "xling.finetune.run") -> None:
    """Run a command in this process; kill it for good once so many epochs in all were saved, if asked to."""
    import importlib
    import os
    import signal
    import sys

    from xling.core.errors import run
    from xling.finetune import trainer

    main = importlib.import_module(module).main
    sys.argv, sys.stderr = ["run", *arguments], open(log, "w")
    if die_after is not None:
        save, saved = trainer.save, []

        def deadly(*given: Any) -> None:
            save(*given)
            saved.append(1)
            if len(saved) == die_after:
                os.kill(os.getpid(), signal.SIGKILL)

        trainer.save = deadly
    run(main)
