"""eflomal behind its one module: a generated bitext comes back aligned, bad input is said in one line."""

import subprocess
import sys
from pathlib import Path

import pytest

import xling.align.align_words as align_words_module
from xling.align.align_words import PROGRAM, SEED_FILE, align_words, find_program
from xling.align.symmetrise import parse_links
from xling.core.errors import InputError, XlingError
from xling.core.io import read_lines, write_text
from xling.core.seeds import python_rng

needs_eflomal = pytest.mark.skipif(find_program() is None, reason=f"{PROGRAM} is not installed (make aligner)")


def write_bitext(folder: Path, sentences: int = 1500) -> tuple[Path, Path]:
    """Write sentences of made-up words and their word-for-word translation in reverse order, an article before it."""
    rng = python_rng("bitext")
    left, right = folder / "left.txt.zst", folder / "right.txt"
    with write_text(left) as one, write_text(right) as other:
        for _ in range(sentences):
            words = rng.sample(range(60), rng.randrange(3, 7))
            one.write(" ".join(f"w{word}" for word in words) + "\n")
            other.write("the " + " ".join(f"x{word}" for word in reversed(words)) + "\n")
    return left, right


@needs_eflomal
def test_a_generated_bitext_is_aligned(tmp_path: Path) -> None:
    left, right = write_bitext(tmp_path)
    command = [sys.executable, "-m", "xling.align.align_words", "--left", left, "--right", right]
    subprocess.run([*command, "--out", tmp_path / "links.txt"], check=True, capture_output=True)
    found = wanted = common = 0
    lines = zip(read_lines(tmp_path / "links.txt"), read_lines(left), strict=True)
    for text, sentence in lines:
        links, length = parse_links(text), len(sentence.split())
        gold = {(word, length - word) for word in range(length)}
        found, wanted, common = found + len(links), wanted + length, common + len(links & gold)
    assert common / found > 0.9
    assert common / wanted > 0.8


@needs_eflomal
def test_forward_links_give_each_target_word_one_source_word(tmp_path: Path) -> None:
    left, right = write_bitext(tmp_path, 300)
    forward, backward = align_words_module._run(left, right, tmp_path)
    for line in read_lines(forward):
        assert len({target for _, target in parse_links(line)}) == len(line.split())
    for line in read_lines(backward):
        assert len({source for source, _ in parse_links(line)}) == len(line.split())


@needs_eflomal
def test_a_seed_gives_the_same_links_and_another_seed_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, (left, right) = python_rng("noise"), (tmp_path / "left.txt", tmp_path / "right.txt")
    for path in (left, right):  # nothing belongs together, so what is linked is a matter of chance
        path.write_text("".join(" ".join(f"w{rng.randrange(40)}" for _ in range(8)) + "\n" for _ in range(30)))
    if not takes_a_seed(left, right, tmp_path, monkeypatch):
        pytest.skip("this eflomal was not built by `make aligner`, so it cannot be seeded")
    one, again, other = (list(align_words(left, right, seed)) for seed in (1, 1, 2))
    assert one == again
    assert one != other


def takes_a_seed(left: Path, right: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Ask for a seed that is not there: only a program that looks for it complains."""
    plain = [align_words_module._plain(path, folder / path.name.split(".")[0]) for path in (left, right)]
    monkeypatch.setenv(SEED_FILE, str(folder / "nowhere"))
    command = [find_program(), "-s", plain[0], "-t", plain[1], "-f", folder / "f", "--overwrite"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    monkeypatch.delenv(SEED_FILE)
    return "urandom" in done.stderr + done.stdout


def test_files_of_different_length(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "b").write_text("un\n")
    with pytest.raises(InputError, match=r"b: ends after 1 lines, .*a goes on"):
        next(align_words(tmp_path / "a", tmp_path / "b"))


def test_an_empty_side(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(InputError, match="empty where sentences were expected"):
        next(align_words(tmp_path / "a", tmp_path / "a"))


def test_the_aligner_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(align_words_module, "find_program", lambda: None)
    (tmp_path / "a").write_text("one\n")
    with pytest.raises(XlingError, match=r"eflomal-align, .*, is not installed \(`make aligner` installs it\)"):
        next(align_words(tmp_path / "a", tmp_path / "a"))


def test_the_aligner_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "broken"
    program.write_text("#!/bin/sh\necho first >&2\necho no memory >&2\nexit 7\n")
    program.chmod(0o755)
    monkeypatch.setattr(align_words_module, "find_program", lambda: str(program))
    (tmp_path / "a").write_text("one\n")
    with pytest.raises(XlingError, match="with exit code 7: no memory"):
        next(align_words(tmp_path / "a", tmp_path / "a"))
