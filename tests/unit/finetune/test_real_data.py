"""Real data through the same commands as a study: vocabulary, every task, French at test.

A test of the path, not of quality: the encoder is untrained.
"""

import json
import lzma
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from toy_tasks import RUN, section

from xling.bpe.build_vocabulary import write_vocabulary
from xling.bpe.train_bpe import count_words, fit
from xling.core.io import read_json
from xling.finetune import run
from xling.tokenization import prepare_task

KINDS = {"xnli": "nli", "ner": "ner", "parsing": "parsing", "pos": "parsing"}
FILES = {
    "nli": (
        ("xnli-mt", "en", "xnli/multinli.train.en.subset10k.tsv", 80),
        ("xnli", "en", "xnli/xnli.dev.tsv", 20),
        ("xnli", "fr", "xnli/xnli.test.tsv", 20),
    ),
    "ner": (
        ("wikiann", "en", "wikiann/en/train", 150),
        ("wikiann", "en", "wikiann/en/dev", 30),
        ("wikiann", "fr", "wikiann/fr/dev", 30),
    ),
    "parsing": (
        ("conllu", "en", "ud/UD_English-EWT/en_ewt-ud-dev.conllu", 80),
        ("conllu", "en", "ud/UD_English-EWT/en_ewt-ud-test.conllu", 20),
        ("conllu", "fr", "ud/UD_French-GSD/fr_gsd-ud-test.conllu", 20),
    ),
}


def real_lines(data: Path, code: str) -> list[str]:
    with lzma.open(data / "text" / f"wiki.{code}.txt.xz", "rt", encoding="utf-8") as handle:
        return [" ".join(line.lower().split()[:40]) for line in islice(handle, 400) if line.strip()]


@pytest.fixture(scope="module")
def real_model(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a joint vocabulary of two languages and the description of an encoder."""
    folder = tmp_path_factory.mktemp("real")
    lines = {code: real_lines(real_data, code) for code in ("en", "fr")}
    (folder / "joint.model").write_bytes(fit(count_words(lines["en"] + lines["fr"]), 400))
    write_vocabulary("joint", dict.fromkeys(lines, folder / "joint.model"), folder / "vocab")
    described = json.loads(json.dumps(RUN))
    described["shape"] |= {"positions": 48}
    described["pretrain"] |= {"length": 48}
    (folder / "run.json").write_text(json.dumps(described))
    return folder


def prepared(kind: str, real_data: Path, folder: Path, call: Callable[..., Any]) -> list[Path]:
    """Prepare the real files and keep the first examples of each, all scripts and lengths as they are."""
    paths = []
    for number, (form, language, name, keep) in enumerate(FILES[kind]):
        path = folder / f"{kind}.{number}.jsonl"
        flags = ["--format", form, "--input", real_data / name, "--language", language, "--out", path]
        assert call(prepare_task.main, *[kind, *flags]).code == 0
        path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:keep]), encoding="utf-8")
        paths.append(path)
    return paths


@pytest.mark.real_data
@pytest.mark.parametrize("task", ["xnli", "ner", "parsing", "pos"])
def test_every_task_trains_and_evaluates_on_real_data(
    task: str, real_data: Path, real_model: Path, tmp_path: Path, call: Callable[..., Any]
) -> None:
    train, dev, test = prepared(KINDS[task], real_data, tmp_path, call)
    entry = {"task": task, "train": str(train), "dev": str(dev), "test": {"en": str(dev), "fr": str(test)}}
    plan = {task: entry | {"settings": section(task, epochs=1, best=2), "config": ""}}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    model = ["--encoder", real_model, "--untrained", "--vocab", real_model / "vocab", "--seed", 1, "--device", "cpu"]
    places = ["--plan", tmp_path / "plan.json", "--work-below", tmp_path / "work", "--out-dir", tmp_path / "out"]
    assert call(run.main, *[*model, *places]).code == 0
    score = read_json(tmp_path / f"out/{task}.json")
    assert score["sizes"] == {
        "train": FILES[KINDS[task]][0][3],
        "dev": FILES[KINDS[task]][1][3],
        "test": {"en": FILES[KINDS[task]][1][3], "fr": FILES[KINDS[task]][2][3]},
    }
    assert sorted(score["languages"]) == ["en", "fr"]
    for found in score["languages"].values():
        assert 0 <= found["interval"][0] <= found["score"] <= found["interval"][1] <= 100
    for point in score["points"]:  # English test was English dev here: the best epoch's weights are what is tested
        assert next(iter(point["test"]["en"].values())) == pytest.approx(point["dev_score"])
