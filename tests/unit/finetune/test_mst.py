import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.finetune.mst import best_tree


def total(scores: np.ndarray, heads: np.ndarray) -> float:
    return float(scores[np.arange(len(heads)), heads].sum())


def best_total_by_networkx(scores: np.ndarray) -> float:
    """Try each word as the only child of the root and span the other words from it."""
    words = len(scores)
    found = []
    for root in range(words):
        graph = networkx.DiGraph()
        graph.add_node(root)
        for word in range(words):
            for head in range(words):
                if word not in (root, head):
                    graph.add_edge(head, word, weight=float(scores[word, head + 1]))
        tree = networkx.maximum_spanning_arborescence(graph) if words > 1 else graph
        found.append(scores[root, 0] + sum(weight for _, _, weight in tree.edges.data("weight")))
    return max(found)


def is_tree(heads: np.ndarray) -> bool:
    for word in range(1, len(heads) + 1):
        seen = set()
        while word:
            if word in seen:
                return False
            seen.add(word)
            word = int(heads[word - 1])
    return True


def test_equals_networkx_on_hundreds_of_graphs() -> None:
    rng = np.random.default_rng(5)
    for number in range(200):
        words = 7 if number % 50 == 0 else int(rng.integers(1, 5))
        scores = rng.random((words, words + 1)) + 0.1
        if number % 2:
            scores[:, 0] += 1.0  # many words would like to be the root
        heads = best_tree(scores)
        assert is_tree(heads)
        assert (heads == 0).sum() == 1
        assert total(scores, heads) == pytest.approx(best_total_by_networkx(scores), abs=1e-9)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 1e4]), st.booleans())
@settings(max_examples=80)
def test_always_one_root_and_a_tree(words: int, seed: int, scale: float, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, (words, words + 1)) if ties else rng.normal(size=(words, words + 1))
    heads = best_tree(scores.astype(np.float32) * scale)
    assert is_tree(heads)
    assert (heads == 0).sum() == 1


def test_unchanged_by_a_shift_of_all_heads_of_a_word() -> None:
    rng = np.random.default_rng(6)
    for _ in range(100):
        scores = rng.normal(size=(9, 10))
        assert np.array_equal(best_tree(scores), best_tree(scores + rng.normal(size=(9, 1))))


def test_one_root_costs_less_than_a_second_root_would_bring() -> None:
    scores = np.array([[9.0, 0.0, 1.0], [9.5, 2.0, 0.0]])  # both words prefer the root
    assert best_tree(scores).tolist() == [0, 1]  # 9 + 2 against 9.5 + 1


def test_a_long_sentence_of_nested_cycles_ends() -> None:
    words = 120
    scores = np.zeros((words, words + 1))
    for word in range(words):
        scores[word, (word + 1) % words + 1] = 10.0 + word  # one great circle
    heads = best_tree(scores)
    assert is_tree(heads)
    assert (heads == 0).sum() == 1
    assert total(scores, heads) == pytest.approx(sum(10.0 + word for word in range(1, words)))
