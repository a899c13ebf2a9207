"""The anchor audit: counts and shares in closed form, and the proof that No anchors and Sep Emb have none."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from xling.bpe.audit import audit, count_stream, count_text, own_counts, require_none, shared_ids
from xling.bpe.streams import TokenStreamWriter, pack
from xling.bpe.train import fit
from xling.bpe.vocabulary import Vocabulary, write_vocabulary
from xling.core.errors import InputError, XlingError
from xling.core.io import read_json, write_text

TEXTS = {"en": ["the table", "the cat", "cat the"], "fr": ["la table", "table la table"]}
WORDS = {code: Counter(" ".join(lines).split()) for code, lines in TEXTS.items()}
MERGES = 12  # every word above is one piece then


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocabularies")
    for name, words in (*WORDS.items(), ("joint", WORDS["en"] + WORDS["fr"])):
        (folder / f"{name}.model").write_bytes(fit(words, MERGES))
    own = {code: folder / f"{code}.model" for code in TEXTS}
    for kind in ("union", "prefixed", "separate"):
        write_vocabulary(kind, own, folder / kind)
    write_vocabulary("joint", dict.fromkeys(TEXTS, folder / "joint.model"), folder / "joint")
    write_vocabulary("mono", {"en": own["en"]}, folder / "mono")
    for code, lines in TEXTS.items():
        with write_text(folder / f"{code}.txt.zst") as handle:
            handle.writelines(f"{line}\n" for line in lines)
    return folder


def report(folder: Path, kind: str) -> dict[str, object]:
    vocabulary = Vocabulary.load(folder / kind)
    counts = {code: count_text(vocabulary, code, folder / f"{code}.txt.zst") for code in TEXTS}
    return audit(vocabulary, counts)


def plain_shared(vocabulary: Vocabulary) -> tuple[set[str], dict[str, Counter[str]]]:
    """Shared pieces by their strings, counted word by word."""
    used = {}
    for code, lines in TEXTS.items():
        names = dict(zip(vocabulary.ids(code).tolist(), vocabulary.pieces(code), strict=True))
        used[code] = Counter(names[number] for line in lines for number in vocabulary.encode_line(code, line))
    return set(used["en"]) & set(used["fr"]), used


@pytest.mark.parametrize("kind", ["joint", "union"])
def test_shared_pieces_are_those_with_the_same_string_in_both_texts(vocabularies: Path, kind: str) -> None:
    found = report(vocabularies, kind)
    shared, used = plain_shared(Vocabulary.load(vocabularies / kind))
    assert shared
    assert found["used_by_both"] == len(shared)
    assert {entry["piece"] for entry in found["top"]} == shared
    for code in TEXTS:
        expected = sum(used[code][piece] for piece in shared)
        running = found["running_tokens"][code]
        assert (running["shared"], running["tokens"]) == (expected, used[code].total())
        assert running["share"] == pytest.approx(expected / used[code].total())
        assert {entry["piece"]: entry[code] for entry in found["top"]} == {piece: used[code][piece] for piece in shared}


@pytest.mark.parametrize("kind", ["prefixed", "separate"])
def test_no_anchors_and_sep_emb_share_nothing(vocabularies: Path, kind: str) -> None:
    found = report(vocabularies, kind)
    assert (found["in_both_vocabularies"], found["used_by_both"], found["mean_share"], found["top"]) == (0, 0, 0.0, [])
    require_none(Vocabulary.load(vocabularies / kind))


@pytest.mark.parametrize("kind", ["joint", "union"])
def test_require_none_names_shared_pieces(vocabularies: Path, kind: str) -> None:
    vocabulary = Vocabulary.load(vocabularies / kind)
    with pytest.raises(XlingError, match=f"pieces shared in a {kind} vocabulary where none may be: ") as caught:
        require_none(vocabulary)
    named = str(caught.value).split("be: ")[1].split(", ")
    assert set(named) <= set(vocabulary.pieces("en")) & set(vocabulary.pieces("fr"))


def test_special_tokens_are_left_out(vocabularies: Path) -> None:
    vocabulary = Vocabulary.load(vocabularies / "union")
    counts = np.zeros(vocabulary.size, dtype=np.int64)
    counts[:4] = 1000
    assert own_counts(vocabulary, "en", counts).sum() == 0
    assert shared_ids(vocabulary).min() >= 4


def test_strongest_anchor_comes_first(vocabularies: Path) -> None:
    vocabulary = Vocabulary.load(vocabularies / "joint")
    counts = {code: np.zeros(vocabulary.size, dtype=np.int64) for code in TEXTS}
    counts["en"][[5, 6, 7]] = [90, 6, 4]  # shares .90 .06 .04
    counts["fr"][[5, 6, 7]] = [1, 40, 59]  # shares .01 .40 .59: the smaller ones are .01 .06 .04
    top = audit(vocabulary, counts)["top"]
    assert [entry["en"] for entry in top] == [6, 4, 90]


def write_stream(folder: Path, code: str, vocabulary: Vocabulary) -> Path:
    with TokenStreamWriter(folder / code, vocabulary.size_of(code), code) as writer:
        for split in ("train", "valid"):
            writer.add(split, *pack([vocabulary.encode_line(code, line) for line in TEXTS[code]]))
    return folder / code


def test_streams_are_counted_like_texts(vocabularies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xling.bpe.audit.BLOCK", 3)
    vocabulary = Vocabulary.load(vocabularies / "union")
    counts = count_stream(write_stream(tmp_path, "en", vocabulary))
    assert counts[2] == len(TEXTS["en"])
    counts[2] = 0
    assert counts.tolist() == count_text(vocabulary, "en", vocabularies / "en.txt.zst").tolist()


def test_stream_of_another_vocabulary_is_refused(vocabularies: Path, tmp_path: Path) -> None:
    vocabulary = Vocabulary.load(vocabularies / "prefixed")
    foreign = np.zeros(vocabulary.size, dtype=np.int64)
    foreign[vocabulary.own_ids("fr")[0]] = 1
    with pytest.raises(XlingError, match="which is no piece of en's vocabulary"):
        own_counts(vocabulary, "en", foreign)
    with pytest.raises(XlingError, match="outside the vocabulary"):
        own_counts(vocabulary, "en", np.zeros(vocabulary.size + 1, dtype=np.int64))
    (tmp_path / "meta.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"meta.json"):
        count_stream(tmp_path)


def command(folder: Path, kind: str, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    texts = [argument for code in TEXTS for argument in ("--text", f"{code}={folder / code}.txt.zst")]
    arguments = ["--vocab", folder / kind, *texts, "--out", out, *more]
    command_line = [sys.executable, "-m", "xling.bpe.audit", *map(str, arguments)]
    return subprocess.run(command_line, capture_output=True, text=True, check=False)


def test_command_writes_the_report(vocabularies: Path, tmp_path: Path) -> None:
    done = command(vocabularies, "separate", tmp_path / "anchors.json", "--require-none")
    assert done.returncode == 0, done.stderr
    assert read_json(tmp_path / "anchors.json") == report(vocabularies, "separate")


def test_command_fails_in_one_line_when_anchors_are_found(vocabularies: Path, tmp_path: Path) -> None:
    done = command(vocabularies, "union", tmp_path / "anchors.json", "--require-none")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "anchors.json").exists()


def test_one_language_has_no_anchors_to_audit(vocabularies: Path, tmp_path: Path) -> None:
    done = command(vocabularies, "mono", tmp_path / "anchors.json")
    assert done.returncode == 2
    assert "anchors need two languages" in done.stderr
