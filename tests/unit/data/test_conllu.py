"""Trees out of CoNLL-U: the words, heads and relations are those that a general library finds."""

from collections import Counter
from pathlib import Path

import conllu
import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xling.data.conllu import find_cycle, read_conllu

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


def test_words_are_the_rows_with_plain_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(SAMPLE, encoding="utf-8")
    first, second = read_conllu(tmp_path / "a.conllu")
    assert first == {
        "words": ["Allons", "de", "le", "bois\u00a0 mort"],
        "heads": [0, 4, 4, 1],
        "deprels": ["root", "case", "det", "obl"],
        "upos": ["VERB", "ADP", "DET", "NOUN"],
    }
    assert second["words"] == ["#"]


@given(st.lists(st.integers(0, 8), min_size=1, max_size=8))
def test_cycles_are_those_of_the_graph(heads: list[int]) -> None:
    heads = [min(head, len(heads)) for head in heads]
    graph = nx.DiGraph((word, head) for word, head in enumerate(heads, start=1) if head)
    on_cycles = {node for cycle in nx.simple_cycles(graph) for node in cycle}
    found = find_cycle(heads)
    assert (found in on_cycles) if on_cycles else found == 0


@pytest.mark.real_data
def test_real_treebanks_have_the_words_heads_and_relations_that_the_conllu_library_finds(real_data: Path) -> None:
    found: Counter[str] = Counter()
    for path in real_data.glob("ud/*/*-ud-test.conllu"):
        trees = list(read_conllu(path))
        found.update(files=1, sentences=len(trees), words=sum(len(tree["words"]) for tree in trees))
        with path.open(encoding="utf-8") as handle:
            for tree, other in zip(trees[:100], conllu.parse_incr(handle), strict=False):
                words = [token for token in other if isinstance(token["id"], int)]
                for ours, theirs in {"words": "form", "heads": "head", "upos": "upos"}.items():
                    assert tree[ours] == [token[theirs] for token in words]
                assert tree["deprels"] == [token["deprel"].split(":")[0] for token in words]
    assert found == {"files": 5, "sentences": 4571, "words": 75006}
