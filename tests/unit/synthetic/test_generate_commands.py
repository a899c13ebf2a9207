"""The two commands, run as the workflow runs them: every byte is pinned, and readers that know nothing of the writers agree."""

import argparse
import bz2
import hashlib
import json
import lzma
import sys
from pathlib import Path
from typing import Any

import pytest

from xling.synthetic import generate_language, generate_parallel
from xling.synthetic.flags import counts, share

TRAITS = {
    "en": {"script": "latin", "cognates": 1.0, "names": 1.0, "function_words": 1.0},
    "fr": {"script": "latin", "accents": "éè", "cognates": 0.4, "names": 0.7, "contractions": True},
    "ru": {"script": "cyrillic", "names": 0.2, "oblique_suffix": "ом", "drops_article": True, "front_object": 0.1},
    "zh": {"script": "han", "spaces": False, "full_stop": "。", "comma": "，", "names": 0.05, "classifier": True},
}
ISO3 = {"en": "eng", "fr": "fra", "ru": "rus", "zh": "cmn"}
LANGUAGES = [{"code": code, "iso3": ISO3[code], "traits": traits} for code, traits in TRAITS.items()]
SPLITS = ("train", "dev", "test")
SEEDS = {"--world-seed": "1", "--seed": "1"}
LANGUAGE_FLAGS = SEEDS | {
    "--source": "en", "--wiki-sentences": "600", "--crawl-sentences": "300", "--treebank-sentences": "120,20,30",
    "--ner-sentences": "100,20,30",
}  # fmt: skip
PARALLEL_FLAGS = SEEDS | {
    "--nli": "90,30,45", "--parallel": "50", "--tatoeba": "40", "--dictionary-share": "0.8",
}  # fmt: skip
GOLDEN = "ec5c4d1a0e8b47b3543560c8a19b527904b4a8348fc3369d664de1b28823527f"
COMPRESSED = {".bz2": bz2.decompress, ".xz": lzma.decompress}


def arguments(code: str, folder: Path, changed: dict[str, str]) -> list[str]:
    """Return the flags for one language, or for all of them together."""
    described = folder / f"{code}.json"
    folder.mkdir(exist_ok=True)
    described.write_text(json.dumps(TRAITS.get(code, LANGUAGES)))
    own = {"--code": code, "--traits": str(described), **LANGUAGE_FLAGS}
    flags = own if code in TRAITS else {"--languages": str(described), **PARALLEL_FLAGS}
    flags = {**flags, "--root": str(folder / "data"), **changed}
    return [word for flag, value in flags.items() for word in (flag, value)]


def written(root: Path) -> dict[str, str]:
    """Return the hash of every file; compressed ones are read, because libraries compress differently."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    plain = {path: COMPRESSED.get(path.suffix, bytes)(path.read_bytes()) for path in files}
    return {str(path.relative_to(root)): hashlib.sha256(content).hexdigest() for path, content in plain.items()}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data root with three languages and what they share."""
    folder = tmp_path_factory.mktemp("generated")
    with pytest.MonkeyPatch.context() as patch:
        for code in ("en", "fr", "zh", "all"):
            patch.setattr(sys, "argv", ["command", *arguments(code, folder, {})])
            (generate_language if code in TRAITS else generate_parallel).main()
    return folder / "data"


def test_a_seed_gives_the_same_files_everywhere_and_another_seed_other_sentences(
    root: Path, tmp_path: Path, call: Any
) -> None:
    """Python's hashes differ in every run of the tests, so they decide nothing."""
    first = written(root)
    assert (len(first), hashlib.sha256(repr(first).encode()).hexdigest()) == (55, GOLDEN)
    assert call(generate_parallel.main, *arguments("all", tmp_path, {"--seed": "2"})).code == 0
    other = written(tmp_path / "data")
    assert {name.partition("/")[0] for name in other if first[name] != other[name]} == {"xnli", "tatoeba", "panlex"}


@pytest.mark.parametrize(
    ("code", "flag", "value", "problem"),
    [
        ("fr", "--traits", "absent.json", "absent.json: no such file"),
        ("fr", "--traits", '{"script": "latin", "cognats": 1}', "cognats: unknown key (did you mean 'cognates'?)"),
        ("fr", "--traits", "{}", "described.json: script: missing key"),
        ("fr", "--traits", '{"script": "latin", "names": 1.5}', "names: expected at most 1, found 1.5"),
        ("fr", "--traits", '{"script": "latin", "cognates": 0.7, "lookalikes": 0.4}', "together at most 1"),
        ("fr", "--traits", '{"script": "latin", "front_adjunct": 0.7, "front_object": 0.4}', "together at most 1"),
        ("fr", "--traits", '{"script": "latin", "spaces": false}', "spaces: false only with script: han"),
        ("fr", "--traits", '{"script": "greek", "lookalikes": 0.1}', "need script: latin"),
        ("fr", "--traits", '{"script": "han", "oblique_suffix": "em"}', "script: han takes no"),
        ("all", "--languages", "[]", "lists no language (a list of {code, iso3, traits}, the source first)"),
        ("all", "--languages", '[{"code": "en", "iso3": "en", "traits": {}}]', "expected a three-letter code such as"),
    ],
)
def test_a_malformed_flag_or_description_is_named(
    tmp_path: Path, refused: Any, code: str, flag: str, value: str, problem: str
) -> None:
    if value[0] in "[{":
        (tmp_path / "described.json").write_text(value)
        value = str(tmp_path / "described.json")
    main = (generate_language if code in TRAITS else generate_parallel).main
    flags = arguments(code, tmp_path / "unused", {flag: value})
    assert problem in refused(main, *flags, out=tmp_path / "unused/data")


@pytest.mark.parametrize(("read", "value"), [(counts, "10,20"), (counts, "10,0,3"), (share, "2"), (share, "nan")])
def test_a_malformed_number_is_refused(read: Any, value: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected"):
        read(value)
