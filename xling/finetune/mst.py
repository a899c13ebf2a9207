"""The best dependency tree: an exact maximum spanning arborescence with one root (Chu-Liu/Edmonds).

Where the best tree has several roots, one is enforced by charging every arc from the root more than any choice of other
arcs can win back. All words can be reached from any word, so a tree with a single root arc always exists, and the best
such tree has the best total.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xling.data.conllu import find_cycle

Matrix = NDArray[np.float64]
Ints = NDArray[np.int64]


class Contraction(NamedTuple):
    """A cycle made into one node, the last of the smaller graph, and what is needed to open it again."""

    heads: Ints  # of the larger graph, before the cycle was broken
    cycle: Ints
    outside: Ints  # the other nodes, root first
    enter: Ints  # for each outside node, the node of the cycle that an arc from it would best enter
    leave: Ints  # for each outside node, the node of the cycle that its best arc from the cycle leaves


def best_tree(scores: NDArray[Any]) -> Ints:
    """Return the head of each word, 0 for the root, from scores (words, words + 1) of heads; column 0 is the root."""
    weights = _graph(scores)
    heads = _arborescence(weights)
    if np.count_nonzero(heads == 0) > 1:
        finite = np.isfinite(weights)
        spread = weights[finite].max() - weights[finite].min()
        weights[0] -= 1.0 + len(weights) * spread
        heads = _arborescence(weights)
    return heads


def _arborescence(weights: Matrix) -> Ints:
    """Return the head of each node but the root in the best tree, however many arcs leave the root."""
    history: list[Contraction] = []
    heads: Ints = weights.argmax(axis=0)
    while start := find_cycle(heads[1:].tolist()):
        step, weights = _contract(weights, heads, np.array(_around(heads, start)))
        history.append(step)
        heads = weights.argmax(axis=0)
    for step in reversed(history):
        heads = _expand(step, heads)
    return heads[1:]


def _around(heads: Ints, start: int) -> list[int]:
    """Return the nodes of the cycle that a node is on."""
    cycle, node = [start], int(heads[start])
    while node != start:
        cycle.append(node)
        node = int(heads[node])
    return cycle


def _graph(scores: NDArray[Any]) -> Matrix:
    """Return weights (head, dependent) of all nodes, arcs to itself and to the root closed."""
    nodes = len(scores) + 1
    weights = np.full((nodes, nodes), -np.inf)
    weights[:, 1:] = np.asarray(scores, dtype=np.float64).T
    np.fill_diagonal(weights, -np.inf)
    return weights


def _contract(weights: Matrix, heads: Ints, cycle: Ints) -> tuple[Contraction, Matrix]:
    inside = np.zeros(len(weights), dtype=bool)
    inside[cycle] = True
    outside = np.flatnonzero(~inside)
    gain = weights[outside[:, None], cycle] - weights[heads[cycle], cycle]  # of entering here instead of going round
    away = weights[cycle[:, None], outside]
    small = np.full((len(outside) + 1, len(outside) + 1), -np.inf)
    small[:-1, :-1] = weights[outside[:, None], outside]
    small[:-1, -1] = gain.max(axis=1)
    small[-1, :-1] = away.max(axis=0)
    return Contraction(heads, cycle, outside, gain.argmax(axis=1), away.argmax(axis=0)), small


def _expand(step: Contraction, heads: Ints) -> Ints:
    """Return the heads of the larger graph: the cycle stays, but for the node that is entered."""
    merged = len(step.outside)
    result, into = step.heads.copy(), heads[merged]
    from_cycle = heads[:merged] == merged
    outer = step.outside[np.where(from_cycle, 0, heads[:merged])]
    result[step.outside] = np.where(from_cycle, step.cycle[step.leave], outer)
    result[step.cycle[step.enter[into]]] = step.outside[into]
    return result
