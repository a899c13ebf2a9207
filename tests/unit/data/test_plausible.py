"""Text in another script or language is noticed, and none of the real texts is taken for one."""

import lzma
from argparse import ArgumentParser
from itertools import islice
from pathlib import Path

import pytest

from xling.core.errors import InputError
from xling.data.plausible import add_flags, plausible
from xling.data.tasks import read_conllu

SCRIPTS = {"en": "Latin", "fr": "Latin", "de": "Latin", "ru": "Cyrillic", "zh": "Han"}
ENGLISH = [
    "the cat and dog of a man in that house was not to be seen with her by all who had his name on this day for it at we"
] * 40
HALF = [line.replace("with her by all who had his name on this day", "xa xb xc xd xe xf xg xh") for line in ENGLISH]
GERMAN = ["die katze und der hund von einem mann in dem haus war nicht zu sehen mit ihr bei allen die seinen"] * 60
RUSSIAN = ["кошка и собака того человека не были видны ни в доме ни на улице, потому что она их не пустила"] * 60
TOLD = {  # a text, its script, and what is told of it beside an English text
    "another script": (RUSSIAN, "Latin", "error: t.txt: 0% of its letters are Latin, most are Cyrillic, as in 'кошка и"),
    "a script that is not known is not checked": (RUSSIAN, "Runes", ""),
    "too little text to tell": (RUSSIAN[:2], "Latin", ""),
    "mostly another script": ([*RUSSIAN[:12], *ENGLISH], "Cyrillic", "t.txt: 21% of its letters are Cyrillic, most are"),
    "half of it": ([*RUSSIAN, *ENGLISH], "Cyrillic", ""),
    "words of another language": (ENGLISH, "Latin", "error: t.txt: its most frequent words (the, "),
    "words of its own": (GERMAN, "Latin", ""),
    "half of its words": (HALF, "Latin", "t.txt: its most frequent words (the, "),
}  # fmt: skip


@pytest.fixture
def look(tmp_path, capsys):
    """Return a function that says what is told of a text beside one of another language."""

    def looked(sample, script, other):
        (tmp_path / "other.txt").write_text("\n".join(other), encoding="utf-8")
        parser = ArgumentParser()
        add_flags(parser)
        unlike = ["--unlike", f"English={tmp_path / 'other.txt'}"] if other else []
        flags = parser.parse_args(["--script", script, *unlike])
        try:
            assert list(plausible(Path("t.txt"), iter(sample), flags)) == sample
        except InputError as error:
            return f"error: {error}"
        return capsys.readouterr().err.partition(" WARNING ")[2]

    return looked


@pytest.mark.parametrize(("sample", "script", "told"), TOLD.values(), ids=TOLD.keys())
def test_what_is_told_of_a_text(look, sample, script, told):
    found = look(sample, script, ENGLISH if script == "Latin" else [])
    assert found.startswith(told) if told else found == ""


def test_real_texts_of_every_kind_pass_and_their_languages_are_told_apart(look, real_data):
    samples: dict[str, list[str]] = {}
    for path in sorted((real_data / "text").glob("*.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as handle:
            samples[path.name.removesuffix(".txt.xz")] = list(islice(handle, 300))
    for path in (real_data / "ud").glob("*/*-test.conllu"):
        samples[f"ud.{path.name[:2]}"] = [" ".join(tree["words"]) for tree in read_conllu(path)]
    assert {name[-2:] for name in samples} == set(SCRIPTS)
    english = samples["wiki.en"]
    for name, sample in samples.items():
        assert look(sample, SCRIPTS[name[-2:]], [] if name.endswith(".en") else english) == ""
    assert look(samples["webdocs.en"], "Latin", english).startswith("t.txt: its most frequent words")
    assert look(samples["encyc.en"], "Latin", english).startswith("error: t.txt: its most frequent words")
