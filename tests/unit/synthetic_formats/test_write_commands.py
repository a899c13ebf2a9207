"""The two commands, run as the workflow runs them, and their files read by readers that know nothing of the writers."""

import bz2
import csv
import hashlib
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import conllu
import numpy as np
import pytest

TRAITS = {
    "en": {"script": "latin", "cognates": 1.0, "names": 1.0, "function_words": 1.0},
    "fr": {
        "script": "latin",
        "accents": "éè",
        "cognates": 0.4,
        "names": 0.7,
        "adjective": "after",
        "contractions": True,
    },
    "ru": {"script": "cyrillic", "names": 0.2, "oblique_suffix": "ом", "drops_article": True, "front_object": 0.1},
    "zh": {"script": "han", "spaces": False, "full_stop": "。", "comma": "，", "names": 0.05, "classifier": True},
}
ISO3 = {"en": "eng", "fr": "fra", "ru": "rus", "zh": "cmn"}
DUMP = "wiki-20200101-pages-articles.xml.bz2"
LANGUAGE_FLAGS = {
    "--source": "en", "--world-seed": "1", "--seed": "1", "--wiki-sentences": "600", "--crawl-sentences": "300",
    "--treebank-sentences": "120,20,30", "--ner-sentences": "100,20,30", "--vector-size": "8",
}  # fmt: skip
PARALLEL_FLAGS = {
    "--traits": json.dumps(TRAITS), "--iso3": json.dumps(ISO3), "--world-seed": "1", "--seed": "1", "--nli": "90,30,45",
    "--parallel": "50", "--tatoeba": "40", "--dictionary-share": "0.8",
}  # fmt: skip


def command(module: str, flags: dict[str, str], root: Path, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    words = [word for flag, value in flags.items() for word in (flag, value)]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1"}
    line = [sys.executable, "-m", f"xling.synthetic.{module}", *words, "--root", str(root)]
    return subprocess.run(line, capture_output=True, text=True, env=environment, check=False)


def language_flags(code: str, **changed: str) -> dict[str, str]:
    return {"--code": code, "--traits": json.dumps(TRAITS[code]), **LANGUAGE_FLAGS, **changed}


def written(root: Path) -> dict[str, str]:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data root with three languages and what they share."""
    folder = tmp_path_factory.mktemp("data")
    for code in ("en", "fr", "zh"):
        done = command("write_language", language_flags(code), folder)
        assert done.returncode == 0, done.stderr
    done = command("write_parallel", PARALLEL_FLAGS, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_files_are_where_the_readers_look(root: Path) -> None:
    expected = {"conll2003/eng.train", "conll2003/eng.testa", "conll2003/eng.testb", "msra/msra.train.bio"}
    expected |= {"msra/msra.test.bio", "jieba/zh.dict.txt"}
    for code in ("en", "fr", "zh"):
        expected |= {
            f"wikidump/{code}{DUMP}",
            f"crawl/{code}.txt.xz",
            f"fasttext/wiki.{code}.vec",
        }
        expected |= {f"ud/{code}/{code}-ud-{split}.conllu" for split in ("train", "dev", "test")}
        expected |= {f"wikiann/{code}/{split}" for split in ("train", "dev", "test")}
    expected |= {f"xnli/{name}" for name in ("multinli.train.en.tsv", "xnli.dev.tsv", "xnli.test.tsv")}
    expected |= {"xnli/xnli.15way.orig.tsv", "xnli/xnli.15way.en2.txt"}
    expected |= {f"panlex/{name}.csv" for name in ("source", "langvar", "meaning", "expr", "denotation")}
    for code in ("fr", "ru", "zh"):
        expected |= {f"muse/en-{code}.{part}txt" for part in ("", "0-5000.", "5000-6500.")}
        expected |= {f"tatoeba/tatoeba.{ISO3[code]}-eng.{side}" for side in (ISO3[code], "eng")}
    assert set(written(root)) == expected


@pytest.mark.parametrize("code", ["fr", "zh"])
def test_the_same_seed_gives_the_same_bytes_in_another_process(root: Path, code: str, tmp_path: Path) -> None:
    assert command("write_language", language_flags(code), tmp_path, hash_seed="77").returncode == 0
    again = written(tmp_path)
    assert again == {name: digest for name, digest in written(root).items() if name in again}
    assert len(again) >= 9


def test_shared_files_have_the_same_bytes_in_another_process_and_others_with_another_seed(
    root: Path, tmp_path: Path
) -> None:
    assert command("write_parallel", PARALLEL_FLAGS, tmp_path / "a", hash_seed="77").returncode == 0
    assert command("write_parallel", {**PARALLEL_FLAGS, "--seed": "2"}, tmp_path / "b").returncode == 0
    same, other, first = written(tmp_path / "a"), written(tmp_path / "b"), written(root)
    assert all(first[name] == digest for name, digest in same.items())
    changed = {name.partition("/")[0] for name in other if first[name] != other[name]}
    assert changed >= {"xnli", "tatoeba", "panlex"}


@pytest.mark.parametrize("code", ["en", "fr", "zh"])
def test_sizes_are_those_asked_for(root: Path, code: str) -> None:
    for split, number in (("train", 120), ("dev", 20), ("test", 30)):
        text = (root / "ud" / code / f"{code}-ud-{split}.conllu").read_text(encoding="utf-8")
        assert len(conllu.parse(text)) == number
    for split, number in (("train", 100), ("dev", 20), ("test", 30)):
        assert len((root / "wikiann" / code / split).read_text(encoding="utf-8").strip().split("\n\n")) == number
    stop = "。" if code == "zh" else "."
    assert lzma.decompress((root / "crawl" / f"{code}.txt.xz").read_bytes()).decode().count(stop) == 300


def test_treebanks_hold_merged_tokens_where_the_language_has_them(root: Path) -> None:
    rows = (root / "ud" / "fr" / "fr-ud-train.conllu").read_text(encoding="utf-8").splitlines()
    numbers = [row.split("\t")[0] for row in rows if row and row[0].isdigit()]
    assert any("-" in number for number in numbers)
    assert any("." in number for number in numbers)


def streams(root: Path) -> Iterator[set[str]]:
    for split in ("train", "dev", "test"):
        text = (root / "ud" / "en" / f"en-ud-{split}.conllu").read_text(encoding="utf-8")
        yield {tree.metadata["text"] for tree in conllu.parse(text)}
    yield set((root / "tatoeba" / "tatoeba.fra-eng.eng").read_text(encoding="utf-8").splitlines())
    yield set((root / "tatoeba" / "tatoeba.rus-eng.eng").read_text(encoding="utf-8").splitlines())


def test_sources_are_draws_of_their_own(root: Path) -> None:
    drawn = list(streams(root))
    for place, one in enumerate(drawn):
        for other in drawn[place + 1 :]:
            assert len(one & other) <= 0.1 * min(len(one), len(other))


def test_evaluation_rows_of_all_languages_agree_on_labels(root: Path) -> None:
    with (root / "xnli" / "xnli.test.tsv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == 4 * 45
    labels = {code: [row["gold_label"] for row in rows if row["language"] == code] for code in TRAITS}
    assert labels["en"] == labels["fr"] == labels["ru"] == labels["zh"]
    assert set(labels["en"]) == {"entailment", "neutral", "contradiction"}
    assert all(row["sentence1"] and row["sentence2"] for row in rows)


def test_parallel_sentences_and_paraphrases_have_one_row_each(root: Path) -> None:
    header, *rows = [
        line.split("\t") for line in (root / "xnli/xnli.15way.orig.tsv").read_text(encoding="utf-8").splitlines()
    ]
    assert header == ["en", "fr", "ru", "zh"]
    other = (root / "xnli" / "xnli.15way.en2.txt").read_text(encoding="utf-8").splitlines()
    assert len(rows) == len(other) == 50
    assert np.mean([row[0] != line for row, line in zip(rows, other, strict=True)]) > 0.3


def test_panlex_knows_the_share_of_words_asked_for(root: Path) -> None:
    muse = {line.split(" ")[0] for line in (root / "muse" / "en-fr.txt").read_text(encoding="utf-8").splitlines()}
    with (root / "panlex" / "langvar.csv").open(encoding="utf-8", newline="") as handle:
        english = next(
            row["id"] for row in csv.DictReader(handle) if (row["lang_code"], row["var_code"]) == ("eng", "0")
        )
    with (root / "panlex" / "expr.csv").open(encoding="utf-8", newline="") as handle:
        known = {row["txt"].lower() for row in csv.DictReader(handle) if row["langvar"] == english}
    assert 0.7 < len(known & muse) / len(muse) < 0.9


@pytest.mark.parametrize("code", ["en", "zh"])
def test_vectors_are_of_the_words_of_the_dump(root: Path, code: str) -> None:
    header, *lines = (root / "fasttext" / f"wiki.{code}.vec").read_text(encoding="utf-8").splitlines()
    assert header == f"{len(lines)} 8"
    dump = bz2.decompress((root / "wikidump" / f"{code}{DUMP}").read_bytes()).decode().lower()
    # Where words are not set apart, a link may begin inside one; a rare word may occur only so.
    assert sum(line.split(" ")[0] in dump for line in lines) > 0.95 * len(lines)
    vectors = np.array([line.split()[1:] for line in lines], dtype=float)
    assert np.linalg.matrix_rank(vectors) == 8


@pytest.mark.parametrize(
    ("flag", "value", "problem"),
    [
        ("--traits", "{", "argument --traits: not JSON"),
        ("--traits", '{"script": "latin", "cognats": 1}', "unknown key 'cognats'"),
        ("--traits", '{"code": "de", "script": "latin"}', "--traits describes language 'de', but --code is 'fr'"),
        ("--wiki-sentences", "many", "argument --wiki-sentences: expected a whole number"),
        ("--treebank-sentences", "10,20", "argument --treebank-sentences: expected 3 whole numbers"),
        ("--vector-size", "5000", "too few for vectors of size 5000"),
    ],
)
def test_a_malformed_flag_is_one_line(tmp_path: Path, flag: str, value: str, problem: str) -> None:
    done = command("write_language", language_flags("fr", **{flag: value}), tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert problem in done.stderr


@pytest.mark.parametrize(
    ("flag", "value", "problem"),
    [
        ("--iso3", '{"en": "eng"}', "no three-letter code for language 'fr'"),
        ("--traits", '{"en": 3}', "expected an object of traits under 'en'"),
        ("--dictionary-share", "2", "argument --dictionary-share: expected a share"),
    ],
)
def test_a_malformed_flag_of_the_shared_files_is_one_line(tmp_path: Path, flag: str, value: str, problem: str) -> None:
    done = command("write_parallel", {**PARALLEL_FLAGS, flag: value}, tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert problem in done.stderr
    assert list(tmp_path.rglob("*")) == []
