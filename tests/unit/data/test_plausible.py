"""Text in another script or language is noticed, and none of the real texts is taken for one."""

import lzma
from itertools import islice
from pathlib import Path

import pytest

from xling.core.errors import InputError
from xling.data.conllu import read_conllu
from xling.data.plausible import check_language, check_script

SCRIPTS = {"en": "Latin", "fr": "Latin", "de": "Latin", "ru": "Cyrillic", "zh": "Han"}
WORDS = (
    "the cat and dog of a man in that house was not to be seen with her by all who had his name on this day for it at"
)
ENGLISH = [f"{WORDS} we they so"] * 40
GERMAN = [
    "die katze und der hund von einem mann in dem haus war nicht zu sehen mit ihr bei allen die seinen namen"
] * 60
RUSSIAN = ["кошка и собака того человека не были видны ни в доме ни на улице, потому что она их не пустила"] * 60


def write(folder: Path, *lines: str) -> Path:
    """Write a text and return its path."""
    path = folder / "other.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_another_script_is_refused_with_an_example() -> None:
    wanted = r"de.txt: 0% of its letters are Latin, most are Cyrillic, as in 'кошка и .*\(is it the right file"
    with pytest.raises(InputError, match=wanted):
        check_script(Path("de.txt"), RUSSIAN, "Latin")
    check_script(Path("de.txt"), RUSSIAN, "Runes")  # not known: not checked
    check_script(Path("de.txt"), RUSSIAN[:2], "Latin")  # too little text to tell


def test_a_text_that_is_mostly_in_another_script_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    check_script(Path("ru.txt"), [*RUSSIAN[:12], *ENGLISH], "Cyrillic")
    assert "WARNING ru.txt: 19% of its letters are Cyrillic, most are Latin" in capsys.readouterr().err
    check_script(Path("ru.txt"), [*RUSSIAN, *ENGLISH], "Cyrillic")
    assert capsys.readouterr().err == ""


def test_the_words_of_another_language_of_the_study_are_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = {"English": write(tmp_path, *ENGLISH)}
    wanted = r"de.txt: its most frequent words \(the, .*\) are those of .*other.txt, the text of English \(one of"
    with pytest.raises(InputError, match=wanted):
        check_language(Path("de.txt"), ENGLISH, "Latin", others)
    check_language(Path("de.txt"), GERMAN, "Latin", others)
    assert capsys.readouterr().err == ""
    half = [line.replace("with her by all who had his name on this day", "xa xb xc xd xe xf xg xh") for line in ENGLISH]
    check_language(Path("de.txt"), half, "Latin", others)
    assert "WARNING de.txt: its most frequent words (the, " in capsys.readouterr().err


def test_real_texts_of_every_kind_pass_and_their_languages_are_told_apart(
    real_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples: dict[str, list[str]] = {}
    for path in sorted((real_data / "text").glob("*.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as handle:
            samples[path.name.removesuffix(".txt.xz")] = list(islice(handle, 300))
    for path in (real_data / "ud").glob("*/*-test.conllu"):
        samples[f"ud.{path.name[:2]}"] = [" ".join(tree["words"]) for tree in read_conllu(path)]
    english = {"English": write(tmp_path, *samples["wiki.en"])}
    assert {name[-2:] for name in samples} == set(SCRIPTS)
    for name, sample in samples.items():
        check_script(Path(name), sample, SCRIPTS[name[-2:]])
        if not name.endswith(".en"):
            check_language(Path(name), sample, SCRIPTS[name[-2:]], english)
    assert capsys.readouterr().err == ""
    check_language(Path("webdocs"), samples["webdocs.en"], "Latin", english)
    assert "WARNING webdocs: its most frequent words" in capsys.readouterr().err
    with pytest.raises(InputError, match="most frequent words"):
        check_language(Path("encyc"), samples["encyc.en"], "Latin", english)
