"""A toy pair of languages for contextual transfer: word for word translations, a tiny encoder, commands and jobs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from unit.finetune.toy_tasks import BIAFFINE, in_language, sentence, write_set

OPTIONS: dict[str, Any] = {
    "layers": [0, 2], "task_layers": 1, "heads": 2, "feedforward": 32, "dropout": 0.1,
    "epochs": 2, "batch": 8, "lr": 1e-2, "warmup_share": 0.1,
}  # fmt: skip


def write_parallel(folder: Path, count: int = 60) -> dict[str, Path]:
    """Write parallel sentences of both languages and their links, word by word."""
    rng = np.random.default_rng(5)
    sentences = [sentence(rng)[0] for _ in range(count)]
    for code in ("en", "fr"):
        (folder / f"{code}.txt").write_text("".join(" ".join(in_language(s, code)) + "\n" for s in sentences))
    (folder / "links.txt").write_text("".join(" ".join(f"{i}-{i}" for i in range(len(s))) + "\n" for s in sentences))
    return {name: folder / f"{name}.txt" for name in ("en", "fr", "links")}


def write_data(folder: Path, task: str) -> dict[str, Any]:
    """Write a task's data and return how --data names it."""
    sets = {"train": ("en", 90, 1), "dev": ("en", 20, 2), "test.en": ("en", 20, 3), "test.fr": ("fr", 20, 4)}
    paths = {}
    for name, (language, count, seed) in sets.items():
        paths[name] = folder / f"{task}.{name}.jsonl"
        if not paths[name].is_file():
            write_set(paths[name], task, language, count, seed)
    tests = {"en": str(paths["test.en"]), "fr": str(paths["test.fr"])}
    return {"task": task, "train": str(paths["train"]), "dev": str(paths["dev"]), "test": tests}


def command(
    folder: Path, model: tuple[Path, Path], out: str, tasks: tuple[str, ...] = ("ner",), **changes: Any
) -> list[str]:
    """Return the flags of a job on toy data in which one bilingual encoder reads both languages."""
    files = write_parallel(folder)
    given: dict[str, Any] = {
        "name": "en-fr.toy.s1", "encoder": [f"en={model[1]}", f"fr={model[1]}"],
        "vocab": [f"en={model[0]}", f"fr={model[0]}"], "parallel": [f"en={files['en']}", f"fr={files['fr']}"],
        "links": [f"fr={files['links']}"], "ways": ["plain", "aligned"], "options": json.dumps(OPTIONS),
        "biaffine": json.dumps(BIAFFINE), "data": json.dumps({f"{t}.toy": write_data(folder, t) for t in tasks}),
        "seed": 7, "work-below": folder / f"{out}.work", "config-hash": "abc", "device": "cpu",
        "out": folder / f"{out}.json",
    }  # fmt: skip
    given |= {name.replace("_", "-"): value for name, value in changes.items()}
    repeated = ("encoder", "vocab", "parallel", "links")
    flags: list[str] = []
    for name, value in given.items():
        if name in repeated:
            flags += [part for item in value for part in (f"--{name}", str(item))]
        else:
            flags += [f"--{name}", *(map(str, value) if isinstance(value, list) else [str(value)])]
    return flags
