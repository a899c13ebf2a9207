"""Word alignment: symmetrised links equal the published definition; how eflomal is installed, and what it aligns."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from embedded import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from pins import read_pins

from workflow_scripts import install_aligner
from workflow_scripts.install_aligner import COMPILER, PINS, build_environment, find_compiler
from xling.align import align_words as module
from xling.align.align_words import (
    PROGRAM,
    SEED_FILE,
    align_words,
    find_program,
    grow_diag_final_and,
    one_to_one,
)
from xling.core.errors import XlingError
from xling.core.io import read_lines, write_text
from xling.core.seeds import python_rng

needs_eflomal = pytest.mark.skipif(find_program() is None, reason=f"{PROGRAM} is not installed (make aligner)")
LENGTH = 7
WORDS = st.lists(st.one_of(st.none(), st.integers(0, LENGTH - 1)), min_size=LENGTH, max_size=LENGTH)


def by_definition(forward, backward):
    """The pseudo-code of Koehn et al., loop by loop over a table; e is the target side, f the source side."""
    around = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    points = [(e, f) for e in range(LENGTH) for f in range(LENGTH)]
    table = {(e, f): (f, e) in forward and (f, e) in backward for e, f in points}

    def free(e, f):
        return not any(table.get((e, x)) for x in range(LENGTH)), not any(table.get((x, f)) for x in range(LENGTH))

    added = True
    while added:
        added = False
        for e, f in points:
            if table[e, f]:
                for step in around:
                    new = e + step[0], f + step[1]
                    if any(free(*new)) and (new[1], new[0]) in forward | backward:
                        table[new] = added = True
    for direction in (forward, backward):
        for e, f in points:
            if all(free(e, f)) and (f, e) in direction:
                table[e, f] = True
    return frozenset((f, e) for (e, f), linked in table.items() if linked)


def links(text):
    return frozenset((int(link[0]), int(link[2])) for link in text.split())


@settings(max_examples=80)
@given(sources=WORDS, targets=WORDS)
def test_equals_the_definition(sources, targets):
    forward = frozenset((f, e) for e, f in enumerate(sources) if f is not None)
    backward = frozenset((f, e) for f, e in enumerate(targets) if e is not None)
    assert grow_diag_final_and(forward, backward) == by_definition(forward, backward)


def test_links_of_words_with_several_links_go():
    assert one_to_one(links("0-0 1-1 1-2 3-4 2-4 5-5")) == links("0-0 5-5")


def write_bitext(folder, sentences=800):
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
def test_a_generated_bitext_is_aligned(tmp_path, monkeypatch, call):
    (left, right), seen = write_bitext(tmp_path), []
    monkeypatch.setattr(module, "grow_diag_final_and", lambda *sides: seen.append(sides) or grow_diag_final_and(*sides))
    done = call(module.main, "--left", left, "--right", right, "--out", tmp_path / "links.txt")
    assert done.code == 0, done.error
    found = wanted = common = 0
    for text, sentence in zip(read_lines(tmp_path / "links.txt"), read_lines(left), strict=True):
        made, length = links(text), len(sentence.split())
        gold = {(word, length - word) for word in range(length)}
        found, wanted, common = found + len(made), wanted + length, common + len(made & gold)
    assert common / found > 0.9
    assert common / wanted > 0.8
    for forward, backward in seen:  # each target word has one source word, and the reverse
        assert len({target for _, target in forward}) == len(forward)
        assert len({source for source, _ in backward}) == len(backward)


@needs_eflomal
def test_a_seed_gives_the_same_links_and_another_seed_others(tmp_path, monkeypatch):
    rng, (left, right) = python_rng("noise"), (tmp_path / "left.txt", tmp_path / "right.txt")
    for path in (left, right):  # nothing belongs together, so what is linked is a matter of chance
        path.write_text("".join(" ".join(f"w{rng.randrange(40)}" for _ in range(8)) + "\n" for _ in range(30)))
    monkeypatch.setenv(SEED_FILE, str(tmp_path / "nowhere"))  # only a program that looks for the seed complains
    command = [str(find_program()), "-s", str(left), "-t", str(right), "-f", str(tmp_path / "f"), "--overwrite"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    monkeypatch.delenv(SEED_FILE)
    if "urandom" not in done.stderr + done.stdout:
        pytest.skip("this eflomal was not built by `make aligner`, so it cannot be seeded")
    one, again, other = (list(align_words(left, right, seed)) for seed in (1, 1, 2))
    assert one == again
    assert one != other


@pytest.mark.parametrize(
    ("left", "right", "program", "problem"),
    [
        ("one\ntwo\n", "un\n", None, r"b: ends after 1 lines of sentences, .*a goes on"),
        ("", "", None, "empty where sentences were expected"),
        ("one\n", "un\n", None, r"eflomal-align, .*, is not installed \(`make aligner` installs it\)"),
        ("one\n", "un\n", "echo first >&2\necho no memory >&2\nexit 7\n", "with exit code 7: no memory"),
    ],
)
def test_bad_input_and_a_missing_or_failing_aligner(tmp_path, monkeypatch, left, right, program, problem):
    (tmp_path / "a").write_text(left)
    (tmp_path / "b").write_text(right)
    (tmp_path / "aligner").write_text(f"#!/bin/sh\n{program}")
    (tmp_path / "aligner").chmod(0o755)
    monkeypatch.setattr(module, "find_program", lambda: str(tmp_path / "aligner") if program else None)
    with pytest.raises(XlingError, match=problem):
        next(align_words(tmp_path / "a", tmp_path / "b"))


def test_the_build_reads_our_headers_first(tmp_path):
    made = build_environment(tmp_path, "cc", {"PATH": "/bin", "CFLAGS": "-O0"})
    assert (made["PATH"], made["CC"], made["MAKEFLAGS"]) == ("/bin", "cc", "e")
    header = re.search(r"-include (.+)", made["CFLAGS"])
    assert header is not None
    assert Path(header[1]).read_text() == (ROOT / "envs/eflomal/seeded.h").read_text()
    assert f'getenv("{SEED_FILE}")' in Path(header[1]).read_text()
    assert f"eflomal=={read_pins(PINS)['eflomal']}" in (ROOT / "envs/eflomal.yaml").read_text()


def test_a_machine_without_a_compiler_fetches_one(tmp_path, monkeypatch):
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(install_aligner, "pip", lambda *arguments: asked.append(arguments))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/clang" if name == "clang" else None)
    assert find_compiler(tmp_path) == "clang"
    assert asked == []
    monkeypatch.setattr(shutil, "which", lambda _: None)
    script = Path(find_compiler(tmp_path))
    assert asked == [("--target", str(tmp_path / "zig"), COMPILER)]
    assert script.stat().st_mode & 0o100
    assert f'exec "{tmp_path}/zig/ziglang/zig" cc' in script.read_text()


def test_a_build_that_fails_is_told_in_one_line(monkeypatch):
    monkeypatch.setattr(install_aligner.sys, "executable", "/bin/false")
    with pytest.raises(
        XlingError, match=r"pip could not install nothing==1: .* \(Figures 5 and 8 need it: install a C"
    ):
        install_aligner.pip("nothing==1")
