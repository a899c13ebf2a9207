"""A toy pair of languages for contextual transfer: word for word translations, a tiny encoder, plans of jobs."""

from pathlib import Path
from typing import Any

import numpy as np
from unit.finetune.toy_tasks import BIAFFINE, in_language, sentence, write_set

from xling.core.io import write_json

OPTIONS: dict[str, Any] = {
    "layers": [0, 2], "task_layers": 1, "heads": 2, "feedforward": 32, "dropout": 0.1,
    "epochs": 2, "batch": 8, "lr": 1e-2, "warmup_share": 0.1,
}  # fmt: skip


def write_parallel(folder: Path, count: int = 60) -> None:
    """Write parallel sentences of both languages and their links, word by word."""
    rng = np.random.default_rng(5)
    sentences = [sentence(rng)[0] for _ in range(count)]
    for code in ("en", "fr"):
        (folder / f"{code}.txt").write_text("".join(" ".join(in_language(s, code)) + "\n" for s in sentences))
    (folder / "links.txt").write_text("".join(" ".join(f"{i}-{i}" for i in range(len(s))) + "\n" for s in sentences))


def write_data(folder: Path, task: str) -> dict[str, Any]:
    """Write a task's data and return how a plan names it."""
    sets = {"train": ("en", 90, 1), "dev": ("en", 20, 2), "test.en": ("en", 20, 3), "test.fr": ("fr", 20, 4)}
    paths = {name: folder / f"{task}.{name}.jsonl" for name in sets}
    for name, (language, count, seed) in sets.items():
        write_set(paths[name], task, language, count, seed)
    tests = {code: str(paths[f"test.{code}"]) for code in ("en", "fr")}
    return {"task": task, "train": str(paths["train"]), "dev": str(paths["dev"]), "test": tests}


def toy_plan(
    folder: Path, model: tuple[Path, ...], codes: tuple[str, str], data: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Return the plan of a job in which one bilingual encoder reads both languages."""
    own = {"vocab": str(model[0]), "encoder": str(model[1])}
    languages = {code: own | {"parallel": str(folder / f"{code}.txt")} for code in codes}
    languages[codes[1]] |= {"links": str(folder / "links.txt")}
    return {
        "name": "en-fr.toy.s1", "source": "en", "languages": languages, "untrained": False, "seed": 7, "data": data,
        "config": "abc", "ways": ["plain", "aligned"], "options": options, "biaffine": BIAFFINE,
    }  # fmt: skip


def command(
    folder: Path, model: tuple[Path, Path], out: str, tasks: tuple[str, ...] = ("ner",), **changes: Any
) -> list[str]:
    """Write parallel text, data and plan of a job, and return the job's flags."""
    write_parallel(folder)
    data = {f"{task}.toy": write_data(folder, task) for task in tasks}
    write_json(folder / f"{out}.plan", toy_plan(folder, model, ("en", "fr"), data, OPTIONS) | changes)
    files = {"--plan": f"{out}.plan", "--work-below": f"{out}.work", "--out": f"{out}.json"}
    flags = [str(part) for flag, name in files.items() for part in (flag, folder / name)]
    return [*flags, "--device", "cpu"]
