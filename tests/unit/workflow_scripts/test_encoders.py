"""Published encoders in the config: what is refused, which files and flags a comparison has, what its hash knows."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from embedded import study

from workflow_scripts.checks import check
from workflow_scripts.config import ConfigError
from workflow_scripts.encoders import Encoders
from workflow_scripts.study import Study

BERT, MBERT = {"hub": "someone/bert", "languages": ["en"]}, {"hub": "mbert", "languages": ["en", "fr", "zh"]}
OWN = "zh.mono.s1"


def section(*compare: list[str], **models: Any) -> dict[str, Any]:
    return {"models": {"bert": BERT, "mbert": MBERT} | models, "compare": list(compare)}


def made(*compare: list[str], **changes: Any) -> Encoders:
    config = study(encoders=section(*compare), **changes)
    check(config)
    return Study(config, {"cka": 1}).encoders


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    (tmp_path / "bert").mkdir()
    for name in ("config.json", "model.safetensors", "pytorch_model.bin"):
        (tmp_path / "bert" / name).touch()
    return tmp_path / "bert"


@pytest.mark.parametrize(
    ("encoders", "line"),
    [
        (section(["bret", "mbert", "en-fr"]), "compare[0]: unknown encoder 'bret' (did you mean 'bert'?)"),
        (section(["bert", "mbert", "fr-en"]), "compare[0]: bert reads en, not 'fr'"),
        (section(["bert", "fr.mono.s1", "en-zh"]), "compare[0]: fr.mono.s1 reads fr, not 'zh'"),
        (section(["bert", "mbert", "en-xx"]), "compare[0]: no column of data.parallel is read in 'xx'"),
        (section(["en.mono.s1", "en2.mono.s1", "en-en2"]), "compare[0]: no column of data.parallel is read in 'en2'"),
        (section(["bert", "mbert", "en-fr"], ["bert", "mbert", "en-fr"]), "compare[1]: bert mbert en-fr stands in the"),
        (section(["bert", "mbert"]), "compare[0][2]: expected another item"),
        (section(["bert", "mbert", "enfr"]), "compare[0][2]: expected the codes of two languages"),
        (section(other={"languages": ["en"]}), "models.other: expected either folder or hub, found neither"),
        (
            section(other={"folder": ".", "hub": "a", "languages": ["en"]}),
            "models.other: expected either folder or hub, found both",
        ),
        (section(other={"folder": "nowhere", "languages": ["en"]}), "models.other.folder: no such folder: nowhere"),
        (section(other={"folder": "docs", "languages": ["en"]}), "models.other.folder: no config.json in docs"),
        (section(other={"hub": "a/b/c", "languages": ["en"]}), "models.other.hub: expected a name on the hub"),
    ],
)
def test_a_mistake_is_one_line(encoders: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check(study(encoders=encoders))
    assert [problem.startswith(f"encoders.{line}") for problem in caught.value.problems] == [True], caught.value


def test_nothing_named_is_nothing_compared() -> None:
    assert made().results == {}


def test_flags_of_two_published_encoders() -> None:
    encoders = made(["bert", "mbert", "en-fr"])
    assert list(encoders.results) == ["bert+mbert.en-fr"]
    flags = shlex.split(encoders.flags("bert+mbert.en-fr"))
    root = "results/data/embedded"
    assert flags == [
        "someone/bert", "mbert", "--languages", "en", "fr", "--parallel", f"{root}/xnli/xnli.15way.orig.tsv",
        "--retrieve", f"{root}/tatoeba/tatoeba.fra-eng.eng", f"{root}/tatoeba/tatoeba.fra-eng.fra",
    ]  # fmt: skip
    assert encoders.model_files("bert+mbert.en-fr") == []
    assert set(encoders.raw_text("bert+mbert.en-fr")) == {flags[i] for i in (6, 8, 9)}


def test_a_model_of_the_study_brings_its_vocabulary_and_tokeniser() -> None:
    encoders = made([OWN, "mbert", "zh-en"])
    name = f"{OWN}+mbert.zh-en"
    flags = shlex.split(encoders.flags(name))
    assert flags[0] == f"results/demo/models/{OWN}"
    assert flags[flags.index("--vocab-a") + 1] == "results/demo/vocab/zh.mono.wiki"
    assert flags[flags.index("--tokeniser-a") + 1] == "results/demo/tokenisers/zh.json"
    assert "--vocab-b" not in flags
    left, right = flags[flags.index("--retrieve") + 1 : flags.index("--retrieve") + 3]
    assert (left[-3:], right[-3:]) == ("cmn", "eng"), "the left side first"
    assert [path.name for path in encoders.model_files(name)] == [
        "model.safetensors", "run.json", "vocab.json", "zh.json",
    ]  # fmt: skip
    assert encoders.segmenters(name) == ["results/data/embedded/jieba/zh.dict.txt"]
    assert made(["bert", "mbert", "en-zh"]).segmenters("bert+mbert.en-zh") == []


@pytest.mark.parametrize("pair", ["en-en", "fr-zh"])
def test_without_a_set_of_tatoeba_parallel_sentences_are_held_out(pair: str) -> None:
    assert "--retrieve" not in made(["mbert", "mbert", pair]).flags(f"mbert+mbert.{pair}")


def test_a_folder_is_watched_for_its_safe_weights(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELS", str(model_folder.parent))
    config = study(encoders=section(["own", "bert", "en-en"], own={"folder": "$MODELS/bert", "languages": ["en"]}))
    check(config)
    encoders = Study(config).encoders
    assert encoders.model_files("own+bert.en-en") == [model_folder / "config.json", model_folder / "model.safetensors"]
    assert shlex.split(encoders.flags("own+bert.en-en"))[0] == str(model_folder)


def test_the_hash_knows_what_decides_a_comparison() -> None:
    """What a study's own models hang on is in tests/workflow/edits.yaml."""

    def known(*compare: str, revision: int = 1, **changes: Any) -> str:
        config = study(**{"encoders": section(list(compare))} | changes)
        return Study(config, {"cka": revision}).identity("comparison", f"{compare[0]}+mbert.en-fr")

    own, published = ("en.mono.s1", "mbert", "en-fr"), ("bert", "mbert", "en-fr")
    others = [
        known(*own, pretrain={"lr": 1.0e-3}), known(*own, synthetic={"tatoeba_sentences": 7}), known(*own, revision=2),
        known(*own, encoders=section(list(own), mbert=MBERT | {"hub": "other"})),
    ]  # fmt: skip
    assert len({known(*own), *others}) == 1 + len(others)
    assert known(*own, tasks={"ner": {"epochs": 1}}) == known(*own)
    assert known(*published, pretrain={"lr": 1e-3}) == known(*published)  # not trained by us
