import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.core.errors import InputError
from xling.data.nli import LABELS, NliExample, read_multinli, read_xnli, read_xnli_mt

PARSES = ("sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse", "sentence2_parse")
VOTES = ("label1", "label2", "label3", "label4", "label5")
HEADER = [
    *("language", "gold_label", *PARSES, "sentence1", "sentence2", "promptID", "pairID", "genre", *VOTES),
    *("sentence1_tokenized", "sentence2_tokenized", "match"),
]


def xnli_row(language: str, label: str, premise: str, hypothesis: str) -> str:
    values = dict.fromkeys(HEADER, "") | {
        "language": language,
        "gold_label": label,
        "sentence1": premise,
        "sentence2": hypothesis,
    }
    return "\t".join(values[name] for name in HEADER)


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def xnli(tmp_path: Path) -> Path:
    return write(
        tmp_path / "xnli.dev.tsv",
        "\t".join(HEADER),
        xnli_row("fr", "neutral", 'Il a dit "oui', "Rien."),
        xnli_row("en", "entailment", "A b.", "C d."),
        xnli_row("fr", "-", "x", "y"),
        xnli_row("fr", "contradiction", "p", "q"),
    )


def test_xnli_gives_one_language_and_counts_undecided_rows(xnli: Path) -> None:
    counts: Counter[str] = Counter()
    assert list(read_xnli(xnli, "fr", counts)) == [
        NliExample('Il a dit "oui', "Rien.", "neutral", 2),
        NliExample("p", "q", "contradiction", 5),
    ]
    assert counts == {"undecided": 1}


def test_a_byte_order_mark_does_not_hide_the_first_column(xnli: Path) -> None:
    before = list(read_xnli(xnli, "fr"))
    xnli.write_bytes(b"\xef\xbb\xbf" + xnli.read_bytes())
    assert list(read_xnli(xnli, "fr")) == before


def test_xnli_language_that_is_not_there(xnli: Path) -> None:
    with pytest.raises(InputError, match=r"no rows of language 'sw' \(has: fr, en\)"):
        list(read_xnli(xnli, "sw"))


def test_training_file_renames_contradictory_and_drops_empty_sentences(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "premise\thypo\tlabel", "a\tb\tcontradictory", "a\t \tneutral", "c\td\tneutral")
    counts: Counter[str] = Counter()
    assert [(e.premise, e.label, e.line) for e in read_xnli_mt(path, counts)] == [
        ("a", "contradiction", 2),
        ("c", "neutral", 4),
    ]
    assert counts == {"empty": 1}


def test_multinli_json_lines(tmp_path: Path) -> None:
    rows = [
        {"gold_label": label, "sentence1": "a\u2028b", "sentence2": "c", "genre": "x"} for label in ("neutral", "-")
    ]
    path = write(tmp_path / "m.jsonl", *(json.dumps(row, ensure_ascii=False) for row in rows))
    counts: Counter[str] = Counter()
    assert list(read_multinli(path, counts)) == [NliExample("a\u2028b", "c", "neutral", 1)]
    assert counts == {"undecided": 1}


@pytest.mark.parametrize(
    ("lines", "line", "problem"),
    [
        (["premise\thypo\tlabel", "a\tb\tmaybe"], 2, "label 'maybe' is none of entailment, neutral, contradiction"),
        (["premise\thypo\tlabel", "a\tb\tneutral", "a\tb"], 3, "2 columns where the header has 3"),
        (["premise\thypothesis\tlabel", "a\tb\tneutral"], 1, "no column 'hypo'"),
        (["premise\thypo\thypo", "a\tb\tneutral"], 1, "names a column twice"),
        (["premise\thypo\tlabel"], None, "a header and no rows"),
        ([], None, "empty where a header"),
    ],
)
def test_malformed_training_file(tmp_path: Path, lines: list[str], line: int | None, problem: str) -> None:
    path = write(tmp_path / "bad.tsv", *lines)
    with pytest.raises(InputError) as caught:
        list(read_xnli_mt(path))
    assert caught.value.path == path
    assert caught.value.line == line
    assert problem in str(caught.value)


def test_empty_evaluation_sentence_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", "\t".join(HEADER), xnli_row("fr", "neutral", "a", " "))
    with pytest.raises(InputError, match=r"x.tsv, line 2: a sentence is empty"):
        list(read_xnli(path, "fr"))


@pytest.mark.parametrize("line", ["{", "[1]", '{"sentence1": "a", "sentence2": "b"}'])
def test_malformed_json_line(tmp_path: Path, line: str) -> None:
    good = json.dumps({"gold_label": "neutral", "sentence1": "a", "sentence2": "b"})
    with pytest.raises(InputError, match="line 2"):
        list(read_multinli(write(tmp_path / "m.jsonl", good, line)))


def test_empty_json_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty"):
        list(read_multinli(write(tmp_path / "m.jsonl")))


SENTENCE = st.text(st.characters(blacklist_characters="\t\n\r", blacklist_categories=("Cs",)), min_size=1).filter(
    lambda text: text.strip()
)


@settings(max_examples=50)
@given(rows=st.lists(st.tuples(SENTENCE, SENTENCE, st.sampled_from(LABELS)), min_size=1))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]) -> None:
    path = write(tmp_path_factory.mktemp("nli") / "t.tsv", "premise\thypo\tlabel", *("\t".join(row) for row in rows))
    assert [(e.premise, e.hypothesis, e.label) for e in read_xnli_mt(path)] == rows


@pytest.mark.real_data
@pytest.mark.parametrize("language", ["en", "fr", "de", "ru", "zh"])
@pytest.mark.parametrize(("split", "rows"), [("dev", 2490), ("test", 5010)])
def test_all_real_xnli_rows_are_read(real_data: Path, language: str, split: str, rows: int) -> None:
    counts: Counter[str] = Counter()
    labels = Counter(e.label for e in read_xnli(real_data / f"xnli/xnli.{split}.tsv", language, counts))
    assert labels == dict.fromkeys(LABELS, rows // 3)
    assert not counts


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("split", "expected"), [("train", (3239, 3367, 3394)), ("dev", (3552, 3183, 3265))], ids=["train", "dev"]
)
def test_real_multinli_rows(real_data: Path, split: str, expected: tuple[int, int, int]) -> None:
    labels = Counter(e.label for e in read_xnli_mt(real_data / f"xnli/multinli.{split}.en.subset10k.tsv"))
    assert labels == dict(zip(LABELS, expected, strict=True))
