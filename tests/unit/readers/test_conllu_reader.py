from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path

import conllu
import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.core.errors import InputError
from xling.data.conllu import Row, Tree, find_cycle, read_conllu, universal

TREEBANKS = {
    "UD_Chinese-GSD/zh_gsd-ud-dev": (500, 12665, 0, 0),
    "UD_Chinese-GSD/zh_gsd-ud-test": (500, 12010, 0, 0),
    "UD_English-EWT/en_ewt-ud-dev": (2001, 25147, 359, 4),
    "UD_English-EWT/en_ewt-ud-test": (2077, 25094, 354, 2),
    "UD_English-EWT/en_ewt-ud-train": (12544, 204577, 2614, 37),
    "UD_French-GSD/fr_gsd-ud-dev": (1476, 35721, 1057, 0),
    "UD_French-GSD/fr_gsd-ud-test": (416, 10018, 280, 0),
    "UD_German-GSD/de_gsd-ud-dev": (799, 12480, 164, 0),
    "UD_German-GSD/de_gsd-ud-test": (977, 16499, 274, 0),
    "UD_Russian-GSD/ru_gsd-ud-dev": (579, 11709, 0, 0),
    "UD_Russian-GSD/ru_gsd-ud-test": (601, 11385, 0, 0),
}  # sentences, words, multiword tokens, empty nodes


def row(number: object, form: str = "w", upos: str = "NOUN", head: object = 0, deprel: str = "root") -> str:
    return f"{number}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_"


SAMPLE = "\n".join(
    [
        "# sent_id = 1",
        "# text = Allons du bois",
        row("0.1", "x", "X", "_", "_"),
        row(1, "Allons", "VERB"),
        row("2-3", "du", "_", "_", "_"),
        row(2, "de", "ADP", 4, "case"),
        row(3, "le", "DET", 4, "det"),
        row(4, "bois\u00a0 mort", "NOUN", 1, "obl:arg"),
        row("4.1", "x", "X", "_", "_"),
        row("4.2", "x", "X", "_", "_"),
        "",
        row(1, "#", "SYM"),
        "",
        "",
    ]
)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def written_back(trees: Iterable[Tree]) -> bytes:
    """The file that sentences were read from, if nothing of it was lost."""
    fields = attrgetter(*Row.__slots__)
    lines = ([*tree.comments, *("\t".join(fields(row)) for row in tree.rows), ""] for tree in trees)
    return "".join(f"{line}\n" for sentence in lines for line in sentence).encode()


def test_words_are_the_rows_with_plain_numbers(tmp_path: Path) -> None:
    first, second = read_conllu(write(tmp_path / "a.conllu", SAMPLE))
    assert first.words == ("Allons", "de", "le", "bois\u00a0 mort")
    assert first.heads == (0, 4, 4, 1)
    assert first.deprels == ("root", "case", "det", "obl:arg")
    assert first.upos == ("VERB", "ADP", "DET", "NOUN")
    assert (first.line, second.line, second.words) == (1, 12, ("#",))


@pytest.mark.parametrize("text", [SAMPLE, row(1) + "\n"])
def test_a_byte_order_mark_is_no_column(tmp_path: Path, text: str) -> None:
    plain, marked = (write(tmp_path / name, mark + text) for name, mark in (("a", ""), ("b", "\ufeff")))
    assert list(read_conllu(marked)) == list(read_conllu(plain))


def test_sample_round_trips(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conllu", SAMPLE)
    assert written_back(read_conllu(path)) == path.read_bytes()


@pytest.mark.parametrize(("deprel", "expected"), [("acl:relcl", "acl"), ("nsubj", "nsubj"), ("a:b:c", "a")])
def test_universal_part(deprel: str, expected: str) -> None:
    assert universal(deprel) == expected


@pytest.mark.parametrize(
    ("rows", "line", "problem"),
    [
        ([row(1), row(2, head=3, deprel="x")], 2, "head '3' of word 2 is not in 0 to 2"),
        ([row(1), row(2, head="_", deprel="x")], 2, "head '_'"),
        ([row(1), row(2, head=-1, deprel="x")], 2, "head '-1'"),
        ([row(1), row(2, head="\u0661", deprel="x")], 2, "is not in 0 to 2"),
        ([row(1), row(2), row(3)], 2, "exactly one root (found: 1, 2, 3)"),
        ([row(1, head=2), row(2, head=1)], 1, "exactly one root (found: none)"),
        ([row(1), row(2, head=3, deprel="x"), row(3, head=2, deprel="x")], 2, "word 2 is its own ancestor"),
        ([row(1), row(2, head=2, deprel="x")], 2, "word 2 is its own ancestor"),
        ([row(1), row(3, head=1, deprel="x")], 2, "row number '3' does not follow word 1"),
        ([row(1), row("2-3", head="_"), row(2, head=1, deprel="x")], 1, "multiword token reaches word 3 of 2"),
        ([row("1-2"), row(1), row("2-3"), row(2, head=1)], 3, "row number '2-3'"),
        ([row(1), row("2.1")], 2, "row number '2.1'"),
        ([row(1), row("1.2")], 2, "row number '1.2'"),
        ([row(1, upos="NN")], 1, "part of speech 'NN'"),
        ([row(1, deprel="_")], 1, "word 1 has no relation"),
        ([row(1), row(2, head=1, deprel="x").replace("\tw\t", "\t\t")], 2, "an empty field"),
        ([row(1), "2\tw\t_"], 2, "3 columns where CoNLL-U has 10"),
        ([row(1).replace("\t", " ")], 1, "1 columns"),
        ([row(1), "# text = b"], 2, "a comment after the words"),
        (["# text = b"], 1, "comments without words"),
        ([], None, "empty"),
    ],
)
def test_malformed(tmp_path: Path, rows: list[str], line: int | None, problem: str) -> None:
    path = write(tmp_path / "bad.conllu", "".join(f"{text}\n" for text in rows))
    with pytest.raises(InputError) as caught:
        list(read_conllu(path))
    assert (caught.value.path, caught.value.line) == (path, line)
    assert problem in str(caught.value)


def test_line_is_counted_over_sentences_and_comments(tmp_path: Path) -> None:
    path = write(tmp_path / "bad.conllu", f"{SAMPLE}# a\n# b\n{row(1)}\n{row(2, head=9, deprel='x')}\n")
    with pytest.raises(InputError, match=r"bad.conllu, line 17: head '9'"):
        list(read_conllu(path))


@given(st.lists(st.integers(0, 8), min_size=1, max_size=8))
def test_cycles_are_those_of_the_graph(heads: list[int]) -> None:
    heads = [min(head, len(heads)) for head in heads]
    graph = nx.DiGraph((word, head) for word, head in enumerate(heads, start=1) if head)
    on_cycles = {node for cycle in nx.simple_cycles(graph) for node in cycle}
    found = find_cycle(heads)
    assert (found in on_cycles) if on_cycles else found == 0


FIELD = st.text(st.characters(blacklist_characters="\t\n\r", blacklist_categories=("Cs",)), min_size=1, max_size=5)


@settings(max_examples=50)
@given(
    st.lists(st.lists(st.tuples(FIELD, FIELD, FIELD), min_size=1, max_size=4), min_size=1, max_size=3),
    st.lists(st.text(st.characters(blacklist_characters="\n\r", blacklist_categories=("Cs",)), max_size=9), max_size=3),
)
def test_any_fields_round_trip(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[tuple[str, str, str]]], comments: list[str]
) -> None:
    lines = []
    for sentence in sentences:
        lines += [f"#{comment}" for comment in comments]
        for number, (form, feats, misc) in enumerate(sentence, start=1):
            lines.append(f"{number}\t{form}\t_\tX\t_\t{feats}\t{number - 1}\tdep\t_\t{misc}")
        lines.append("")
    path = write(tmp_path_factory.mktemp("conllu") / "a", "".join(f"{line}\n" for line in lines))
    assert written_back(read_conllu(path)) == path.read_bytes()


@pytest.mark.real_data
@pytest.mark.parametrize("name", TREEBANKS)
def test_real_treebanks_round_trip(real_data: Path, name: str) -> None:
    path = real_data / "ud" / f"{name}.conllu"
    trees = list(read_conllu(path))
    rows = [row for tree in trees for row in tree.rows]
    kinds = (sum("-" in row.id for row in rows), sum("." in row.id for row in rows))
    assert (len(trees), sum(len(tree.words) for tree in trees), *kinds) == TREEBANKS[name]
    assert written_back(trees) == path.read_bytes()


@pytest.mark.real_data
def test_no_real_treebank_is_forgotten(real_data: Path) -> None:
    assert {str(path.relative_to(real_data / "ud"))[:-7] for path in real_data.glob("ud/*/*.conllu")} == set(TREEBANKS)


@pytest.mark.real_data
def test_same_words_heads_and_relations_as_the_conllu_library(real_data: Path) -> None:
    path = real_data / "ud/UD_English-EWT/en_ewt-ud-dev.conllu"
    with path.open(encoding="utf-8") as handle:
        for tree, other in zip(read_conllu(path), conllu.parse_incr(handle), strict=True):
            words = [token for token in other if isinstance(token["id"], int)]
            assert tree.words == tuple(token["form"] for token in words)
            assert tree.heads == tuple(token["head"] for token in words)
            assert tree.deprels == tuple(token["deprel"] for token in words)
            assert tree.upos == tuple(token["upos"] for token in words)
