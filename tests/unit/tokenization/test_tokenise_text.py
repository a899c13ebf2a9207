"""The tokenising command: words and counts, empty lines dropped, faults told in one line."""

import json
from itertools import pairwise

import pytest

from xling.core.io import read_json, read_lines, write_json
from xling.data.parts import Part
from xling.tokenization.tokenise_text import main, thin

OPTIONS = json.dumps({"language": "en", "moses": "en"})


@pytest.fixture
def tokenise(call, tmp_path):
    """Return a function that tokenises a text into a folder."""

    def command(text, *more, options=OPTIONS, out="out"):
        (tmp_path / "text.txt").write_text(text, encoding="utf-8")
        (tmp_path / "options.json").write_text(options) if options else None
        flags = ["--out", tmp_path / out / "tok.txt.zst", "--stats", tmp_path / out / "stats.json"]
        return call(main, "--input", tmp_path / "text.txt", "--options", tmp_path / "options.json", *flags, *more)

    return command


def test_words_and_counts_without_empty_lines(tokenise, tmp_path):
    text = "".join(f"Line no. {number}, isn't it?\n" if number % 5 else " \u200b\n" for number in range(117))
    assert tokenise(text).code == 0
    lines = list(read_lines(tmp_path / "out/tok.txt.zst"))
    assert lines == [f"line no . {n} , isn 't it ?" for n in range(117) if n % 5]
    words = [word for line in lines for word in line.split()]
    counts = {"lines": len(lines), "words": len(words), "characters": len("".join(words))}
    assert read_json(tmp_path / "out/stats.json") == counts


@pytest.mark.parametrize(
    ("content", "options", "problem"),
    [
        ("\n \n", OPTIONS, "text.txt: no words in it"),
        ("a\n", "{", "options.json, line 1: not JSON"),
        ("a\n", "[]", "options.json: (top level): expected keys and values"),
        ("a\n", "", "options.json: no such file"),
        ("a\n", '{"language": "xx", "moses": "xx"}', "'xx' is not a language of sacremoses"),
    ],
)
def test_faults_are_one_line_and_leave_nothing(tokenise, tmp_path, content, options, problem):
    code, error, _ = tokenise(content, options=options)
    assert (code, problem in error) == (2, True)
    assert error.count("\n") <= 1
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} <= {"text.txt", "options.json"}


@pytest.mark.parametrize(("margin", "wanted"), [(1.5, 4000), (1.0, 10**9)], ids=["to a margin", "never beyond all"])
def test_thinning_draws_the_same_lines_from_any_number_of_shards(tmp_path, margin, wanted):
    lines = [f"{number:09}" for number in range(40_000)]
    write_json(tmp_path / "wanted.json", {"characters": 9 * wanted, "paragraphs": 1})
    kept = []
    for count in (1, 3):
        cuts = [len(lines) * number // count for number in range(count + 1)]
        shards, stats = [lines[a:b] for a, b in pairwise(cuts)], [tmp_path / f"{k}.json" for k in range(count)]
        for path, shard in zip(stats, shards, strict=True):
            write_json(path, {"characters": 9 * len(shard), "paragraphs": len(shard)})
        drawn = [
            thin(shard, margin, [tmp_path / "wanted.json"], stats, Part(number, count))
            for number, shard in enumerate(shards, start=1)
        ]
        kept.append([line for some in drawn for line in some])
    assert kept[0] == kept[1]
    assert len(kept[0]) == pytest.approx(min(margin * wanted, len(lines)), rel=0.05)
    assert set(kept[0]) <= set(lines)


def test_a_thinned_shard_is_tokenised_and_may_be_empty(tmp_path, tokenise):
    for name, size in (("wanted", 3), ("given", 6)):
        write_json(tmp_path / f"{name}.json", {"characters": size, "paragraphs": size})
    sizes = ["--wanted", tmp_path / "wanted.json", "--given", *[tmp_path / "given.json"] * 2, "--part", "2-of-2"]
    for margin, words in ((4.0, ["a", "b", "c"]), (1e-9, [])):
        assert tokenise("a\nb\nc\n", "--thin", margin, *sizes).code == 0
        assert list(read_lines(tmp_path / "out/tok.txt.zst")) == words
