"""Trees out of CoNLL-U: nothing of a file is lost, and the words are those that a general library finds."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import conllu
import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.data.conllu import Tree, find_cycle, read_conllu, universal

SAMPLE = """# sent_id = 1
# text = Allons du bois
0.1\tx\t_\tX\t_\t_\t_\t_\t_\t_
1\tAllons\t_\tVERB\t_\t_\t0\troot\t_\t_
2-3\tdu\t_\t_\t_\t_\t_\t_\t_\t_
2\tde\t_\tADP\t_\t_\t4\tcase\t_\t_
3\tle\t_\tDET\t_\t_\t4\tdet\t_\t_
4\tbois\u00a0 mort\t_\tNOUN\t_\t_\t1\tobl:arg\t_\t_
4.1\tx\t_\tX\t_\t_\t_\t_\t_\t_
4.2\tx\t_\tX\t_\t_\t_\t_\t_\t_

1\t#\t_\tSYM\t_\t_\t0\troot\t_\t_

"""


def written_back(trees: Iterable[Tree]) -> bytes:
    """Return the file that sentences were read from, if nothing of it was lost."""
    lines = ([*tree.comments, *("\t".join(row) for row in tree.rows), ""] for tree in trees)
    return "".join(f"{line}\n" for sentence in lines for line in sentence).encode()


def test_words_are_the_rows_with_plain_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(SAMPLE, encoding="utf-8")
    first, second = trees = list(read_conllu(tmp_path / "a.conllu"))
    assert first.words == ("Allons", "de", "le", "bois\u00a0 mort")
    assert first.heads == (0, 4, 4, 1)
    assert first.deprels == ("root", "case", "det", "obl:arg")
    assert [universal(deprel) for deprel in first.deprels] == ["root", "case", "det", "obl"]
    assert first.upos == ("VERB", "ADP", "DET", "NOUN")
    assert (first.line, second.line, second.words) == (1, 12, ("#",))
    assert written_back(trees) == SAMPLE.encode()


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
    st.lists(FIELD, max_size=3),
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
    path = tmp_path_factory.mktemp("conllu") / "a"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    assert written_back(read_conllu(path)) == path.read_bytes()


@pytest.mark.real_data
def test_real_treebanks_round_trip(real_data: Path) -> None:
    found: Counter[str] = Counter()
    for path in real_data.glob("ud/*/*-ud-test.conllu"):
        trees = list(read_conllu(path))
        assert written_back(trees) == path.read_bytes()
        ids = [row.id for tree in trees for row in tree.rows]
        found.update(files=1, sentences=len(trees), words=sum(len(tree.words) for tree in trees))
        found.update(multiword=sum("-" in number for number in ids), empty=sum("." in number for number in ids))
    assert found == {"files": 5, "sentences": 4571, "words": 75006, "multiword": 908, "empty": 2}


@pytest.mark.real_data
def test_same_words_heads_and_relations_as_the_conllu_library(real_data: Path) -> None:
    path = real_data / "ud/UD_French-GSD/fr_gsd-ud-test.conllu"
    with path.open(encoding="utf-8") as handle:
        for tree, other in zip(read_conllu(path), conllu.parse_incr(handle), strict=True):
            words = [token for token in other if isinstance(token["id"], int)]
            theirs = [tuple(token[name] for token in words) for name in ("form", "head", "deprel", "upos")]
            assert [tree.words, tree.heads, tree.deprels, tree.upos] == theirs
