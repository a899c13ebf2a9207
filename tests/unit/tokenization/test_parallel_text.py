import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.core.errors import InputError, XlingError
from xling.data.parallel import read_aligned, read_both, read_multiway
from xling.tokenization import parallel, words

MULTIWAY = "de\ten\tfr\nja\tyes\toui\nnein\tno, no\tnon\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


class Upper:
    """A tokeniser that shows it has been used, and with which options."""

    def __init__(self, options: dict[str, str]) -> None:
        self.mark = options["mark"]

    def words(self, text: str) -> list[str]:
        return [] if text == "vanish" else [self.mark, *text.upper().split()]

    def word(self, form: str) -> str:
        return form.upper()


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["parallel", *map(str, arguments)])
    monkeypatch.setattr(words, "make_tokeniser", Upper)
    parallel.main()


def test_multiway_gives_the_languages_in_the_order_asked(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", MULTIWAY)
    assert list(read_multiway(path, ["fr", "de"])) == [("oui", "ja"), ("non", "nein")]


def test_aligned_files(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a", "x\ny\u2028z\n"), write(tmp_path / "b", "1\n2")
    assert list(read_aligned([one, two])) == [("x", "1"), ("y\u2028z", "2")]


@pytest.mark.parametrize(
    ("left", "right", "name", "line", "problem"),
    [
        ("1\n2\n3\n", "1\n2\n", "b", None, "ends after 2 lines"),
        ("1\n2\n", "1\n2\n3\n", "a", None, "ends after 2 lines"),
        ("1\n\n3\n", "1\n2\n3\n", "a", 2, "blank line"),
        ("1\n2\n", "1\n \t\n", "b", 2, "blank line"),
        ("", "", "a", None, "empty"),
        ("", "1\n", "a", None, "ends after 0 lines"),
    ],
)
def test_files_that_do_not_align(
    tmp_path: Path, left: str, right: str, name: str, line: int | None, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        list(read_aligned([write(tmp_path / "a", left), write(tmp_path / "b", right)]))
    assert (caught.value.path.name, caught.value.line) == (name, line)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("de\ten\n1\t2\n", 1, "no column 'fr' in the header (has: de, en)"),
        ("en\tfr\n1\t2\n1\t\n", 3, "no sentence in column fr"),
        ("en\tfr\n1\n", 2, "1 columns where the header has 2"),
        ("en\tfr\n", None, "a header and no rows"),
    ],
)
def test_malformed_multiway(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    path = write(tmp_path / "x.tsv", text)
    with pytest.raises(InputError) as caught:
        list(read_multiway(path, ["en", "fr"]))
    assert (caught.value.path, caught.value.line) == (path, line)
    assert problem in str(caught.value)


@pytest.mark.parametrize(("extra", "short"), [("1\n", "back.txt"), ("1\n2\n3\n", "x.tsv")])
def test_further_file_of_another_length(tmp_path: Path, extra: str, short: str) -> None:
    with pytest.raises(InputError, match=r"goes on") as caught:
        list(read_both(write(tmp_path / "x.tsv", MULTIWAY), ["en"], [write(tmp_path / "back.txt", extra)]))
    assert caught.value.path.name == short


def test_command_writes_a_file_a_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, back = write(tmp_path / "x.tsv", MULTIWAY), write(tmp_path / "back.txt", "yep\nnope  nope\n")
    tokeniser = f"fr={json.dumps({'mark': 'f=r'})}"
    run_main(
        monkeypatch, "--multiway", table, "--languages", "fr", "en", "--file", f"en2={back}", "--tokeniser", tokeniser,
        "--out-dir", tmp_path / "out",
    )  # fmt: skip
    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()}
    assert written == {"fr.txt": "f=r OUI\nf=r NON\n", "en.txt": "yes\nno, no\n", "en2.txt": "yep\nnope nope\n"}


def test_a_file_beside_a_table_without_a_column_has_to_be_as_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, back = write(tmp_path / "x.tsv", MULTIWAY), write(tmp_path / "back.txt", "yep\nnope\n")
    run_main(monkeypatch, "--multiway", table, "--file", f"en2={back}", "--out-dir", tmp_path / "out")
    assert {path.name: path.read_text() for path in (tmp_path / "out").iterdir()} == {"en2.txt": "yep\nnope\n"}
    write(back, "yep\n")
    with pytest.raises(InputError, match=r"back.txt: ends after 1 sentences"):
        run_main(monkeypatch, "--multiway", table, "--file", f"en2={back}", "--out-dir", tmp_path / "short")
    assert list((tmp_path / "short").iterdir()) == []


def test_nothing_is_left_behind_by_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = write(tmp_path / "a", "x\ny\n"), write(tmp_path / "b", "1\nvanish\n")
    with pytest.raises(InputError, match=r"fr.txt, line 2: nothing left of 'vanish'"):
        run_main(
            monkeypatch, "--file", f"en={one}", "--file", f"fr={two}", "--tokeniser", 'fr={"mark": "!"}',
            "--out-dir", tmp_path / "out",
        )  # fmt: skip
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--file", "a.txt"], [], ["--file", "en=a", "--multiway", "x", "--languages", "en"],
        ["--file", "en=a", "--file", "en=b"], ["--file", "en=a", "--tokeniser", "en={}", "--tokeniser", "en={}"],
    ],
)  # fmt: skip
def test_sides_that_are_not_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    with pytest.raises(XlingError, match=r"expected CODE=\w+, each code once|name each side once"):
        run_main(monkeypatch, *arguments, "--out-dir", tmp_path)


SENTENCE = st.text(st.characters(blacklist_characters="\n\r", blacklist_categories=("Cs",)), min_size=1).filter(
    lambda text: text.strip()
)


@settings(max_examples=50)
@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1))
def test_aligned_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    folder = tmp_path_factory.mktemp("aligned")
    paths = [write(folder / str(side), "".join(f"{row[side]}\n" for row in rows)) for side in (0, 1)]
    assert list(read_aligned(paths)) == rows


def tatoeba(data: Path, code: str) -> list[Path]:
    """The files of a published test set, English second."""
    return [data / f"tatoeba/tatoeba.{code}-eng.{side}" for side in (code, "eng")]


@pytest.mark.real_data
@pytest.mark.parametrize("code", ["fra", "deu", "rus", "cmn"])
def test_real_tatoeba(real_data: Path, code: str) -> None:
    assert len(list(read_aligned(tatoeba(real_data, code)))) == 1000


@pytest.mark.real_data
def test_real_tatoeba_sides_are_not_swapped(real_data: Path) -> None:
    first = next(read_aligned(tatoeba(real_data, "fra")))
    english = "In the beginning God created the heaven and the earth."
    assert first == ("Au commencement, Dieu créa le ciel et la terre.", english)


@pytest.mark.real_data
def test_real_15way(real_data: Path) -> None:
    rows = list(read_multiway(real_data / "xnli/xnli.15way.orig.tsv", ["en", "fr", "de", "ru", "zh"]))
    assert len(rows) == 10000
    assert rows[2][:3] == ("He didn't say a word.", rows[2][1], "Er sagte kein Wort.")
    assert rows[2][1].startswith("Il n'a pas")
