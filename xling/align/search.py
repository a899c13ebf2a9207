"""Exact k-nearest-neighbour search by dot product, on CPU or GPU, without holding the n x m score matrix in memory.

Groups: scores are laid out in groups of 32 candidates, so that one vectorised pass finds every group's maximum. The k
groups with the highest maxima contain the k best candidates, so only those groups are searched. Taking the best k of a
whole row of scores would cost about as much as the matrix product that computes the row.

Half precision with exact results: if the hardware multiplies 16-bit numbers much faster (a GPU, or a CPU with AMX), a
16-bit product selects a shortlist, which is then scored in float32. A bound on the error of a 16-bit score is
computed from the rounding errors of the vectors (Cauchy-Schwarz on the residuals). A query is settled, that is, its
result is proved exact, if its k-th float32 score is above every score that a candidate outside the shortlist could
have. The few other queries are searched again in float32. Results therefore do not depend on device or precision,
except for scores that float32 cannot distinguish. Ties go to the lower index.

CSLS (Conneau et al. 2018) is the measure of Figures 4a and 4b: CSLS(x, y) = 2 cos(x, y) - r_T(x) - r_S(y), where r is
the mean cosine to the K nearest vectors of the other side. r_T(x) is the same for every candidate of x and cannot
change the ranking, so two passes over the n x m matrix suffice: one for r_S and one for the search. In the search, r_S
is one more column of the vectors and costs no extra pass: cos - r_S / 2 = (x, 1) · (y, -r_S / 2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from xling.align.mapping import Matrix
from xling.model.device import exact_products, side_by_side

Result = TypeVar("Result")
NEIGHBOURS = 10  # K of CSLS (section 5.1.1 of the paper)
GROUP = 32  # candidates per group
BLOCKS = {"cpu": (512, 32768), "cuda": (4096, 65536)}  # queries and candidates per product
SPARE = 14  # shortlist entries beyond k: enough to settle nearly every query in bfloat16
ROUNDING = 2.0**-22  # relative error allowed in a float32 score
WORTH_LISTING = 16384  # with fewer candidates, scoring the shortlists costs more than the faster product saves
LOW = 2**31 - 1  # mask of the low 31 bits


@dataclass(frozen=True, slots=True)
class Found:
    """The best candidates for each query, best first."""

    scores: NDArray[np.float32]  # (n, k)
    indices: NDArray[np.int64]  # (n, k)


def search(queries: Matrix, candidates: Matrix, k: int, device: str = "cpu", half: torch.dtype | None = None) -> Found:
    """Return the k candidates with the highest dot product; `half` is the 16-bit type for shortlists (None: no lists).

    All values must be finite (the code that reads the vectors checks this), and there must be at least k candidates.
    """
    x, y = (torch.from_numpy(np.ascontiguousarray(side, dtype=np.float32)).to(device) for side in (queries, candidates))
    with exact_products(), torch.inference_mode():
        if half is None or len(y) < GROUP * (k + SPARE):
            keys = _search(x, y, k)
        else:
            keys, settled = _search_shortlists(x, y, k, half)
            again = (~settled).nonzero()[:, 0]
            if len(again):
                keys[again] = _search(x[again], y, k)
    return Found(_scores(keys).cpu().numpy(), _indices(keys).cpu().numpy())


def cosine_search(queries: Matrix, candidates: Matrix, k: int, device: str = "cpu") -> Found:
    """Return the k candidates with the highest cosine; all vectors must have unit length."""
    return search(queries, candidates, k, device, fast_half(device, len(candidates)))


def mean_similarity(vectors: Matrix, others: Matrix, device: str = "cpu") -> NDArray[np.float32]:
    """Return r of each vector: its mean cosine to its K nearest vectors in `others`, or to all if there are fewer."""
    scores = cosine_search(vectors, others, min(NEIGHBOURS, len(others)), device).scores
    return np.asarray(scores.mean(axis=1))


def csls_search(
    source: Matrix, target: Matrix, k: int, queries: NDArray[np.int64] | None = None, device: str = "cpu"
) -> Found:
    """Return the k targets with the highest CSLS for each source vector, or only for those at the indices `queries`.

    All vectors must have unit length. Scores are 2 cos - r_S; r_T is omitted, being constant for each query.
    """
    penalty = mean_similarity(target, source, device)
    asked = source if queries is None else source[queries]
    x = np.hstack([asked, np.ones((len(asked), 1), np.float32)], dtype=np.float32)
    y = np.hstack([target, -penalty[:, None] / 2], dtype=np.float32)
    found = search(x, y, k, device, fast_half(device, len(y)))
    return Found(2 * found.scores, found.indices)


def fast_half(device: str, candidates: int) -> torch.dtype | None:
    """Return the 16-bit type for shortlists if they make the search faster on this device, otherwise None."""
    if candidates < WORTH_LISTING:
        return None
    if torch.device(device).type == "cuda":
        return torch.float16
    return torch.bfloat16 if torch.cpu.get_capabilities().get("amx_bf16") else None


def _search(x: Tensor, y: Tensor, k: int) -> Tensor:
    """Return the keys (see `_keys`) of the best k candidates for each query, best first."""
    grids = _lay_out(y)

    def best(room: Tensor, block: Tensor) -> Tensor:
        keys = torch.cat([grid.best(block, k, start, room) for start, grid in grids], dim=1)
        return keys.topk(k).values

    return torch.cat(_by_block(best, [x], y))


def _search_shortlists(x: Tensor, y: Tensor, k: int, half: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return the keys of the best k candidates on each query's shortlist, and a mask of the settled queries."""
    x_half, y_half = x.to(half), y.to(half)
    grids = _lay_out(y_half)

    def best(room: Tensor, block: Tensor, exact: Tensor, margin: Tensor) -> tuple[Tensor, Tensor]:
        parts = [grid.shortlist(block, k + SPARE, start, room) for start, grid in grids]
        values, indices = (torch.cat(part, dim=1) for part in zip(*parts, strict=True))
        values, places = values.topk(k + SPARE)
        indices = indices.gather(1, places)
        listed = y.index_select(0, indices.flatten()).view(*indices.shape, -1)
        scores = torch.bmm(listed, exact[:, :, None])[:, :, 0]
        keys = _keys(scores, indices).topk(k).values
        last = values[:, -1]  # no candidate outside the shortlist has a higher 16-bit score
        missed = last * (1 + torch.finfo(half).eps) + margin
        return keys, (last > 0) & (_scores(keys[:, -1]) > missed)

    found = _by_block(best, [x_half, x, _margins(x, y, x_half, y_half)], y_half)
    keys, settled = zip(*found, strict=True)
    return torch.cat(keys), torch.cat(settled)


def _by_block(work: Callable[..., Result], parts: Sequence[Tensor], y: Tensor) -> list[Result]:
    """Call `work` on each block of queries, with a buffer for the products; return the results in order.

    On a CPU, blocks run in parallel, with one thread per block.
    """
    rows, columns = BLOCKS[y.device.type]
    threads = torch.get_num_threads() if y.device.type == "cpu" else 1
    blocks = list(zip(*(torch.split(part, rows) for part in parts), strict=True))
    rooms: SimpleQueue[Tensor] = SimpleQueue()
    for _ in range(min(threads, len(blocks))):
        size = min(rows, len(parts[0])) * min(columns, len(y) + GROUP)
        rooms.put(torch.empty(size, dtype=y.dtype, device=y.device))

    def with_room(block: tuple[Tensor, ...]) -> Result:
        room = rooms.get()
        try:
            with torch.inference_mode():
                return work(room, *block)
        finally:
            rooms.put(room)

    return side_by_side(with_room, blocks) if threads > 1 else [with_room(block) for block in blocks]


def _margins(x: Tensor, y: Tensor, x_half: Tensor, y_half: Tensor) -> Tensor:
    """Return for each query an upper bound on the error that rounding the vectors causes in any of its scores."""
    x_off, y_off = _lengths(x - x_half.float()), _lengths(y - y_half.float()).max()
    x_long, y_long = _lengths(x_half.float()), _lengths(y).max()
    summing = x.shape[1] * torch.finfo(torch.float32).eps + ROUNDING
    return x_off * y_long + x_long * y_off + x_long * y_long * summing


def _lengths(rows: Tensor) -> Tensor:
    return rows.square().sum(dim=1).sqrt()


class _Grid:
    """A block of candidates as a (GROUP, width) grid: column j holds candidates j·GROUP to j·GROUP + GROUP - 1."""

    def __init__(self, block: Tensor) -> None:
        self.missing = -len(block) % GROUP
        self.width = (len(block) + self.missing) // GROUP
        padded = pad(block, (0, 0, 0, self.missing)).view(self.width, GROUP, -1)
        self.vectors = padded.transpose(0, 1).reshape(GROUP * self.width, -1)
        self.groups = torch.arange(self.width, device=block.device)
        self.members = torch.arange(GROUP, device=block.device)[:, None]

    def best(self, queries: Tensor, k: int, start: int, room: Tensor) -> Tensor:
        """Return the keys of the best k candidates, or of all if there are fewer; indices are offset by `start`."""
        scores = self._products(queries, room)
        top = _keys(scores.amax(dim=1), self.groups).topk(min(k, self.width)).values
        groups = _indices(top)[:, None, :].expand(-1, GROUP, -1)
        keys = _keys(scores.gather(2, groups), start + groups * GROUP + self.members).flatten(1)
        return keys.topk(min(k, keys.shape[1] - self.missing)).values

    def shortlist(self, queries: Tensor, size: int, start: int, room: Tensor) -> tuple[Tensor, Tensor]:
        """Return the `size` highest 16-bit scores and their indices; the list is valid only if all are positive."""
        scores = self._products(queries, room)
        # Read as integers, the bits of positive 16-bit floats keep their order, and negative floats come below them.
        # Integers are compared four times as fast. The caller rejects a list with a score that is not positive.
        maxima = scores.view(torch.int16).amax(dim=1).view(scores.dtype).float()
        groups = maxima.topk(min(size, self.width), sorted=False).indices
        inside = scores.gather(2, groups[:, None, :].expand(-1, GROUP, -1)).float().flatten(1)
        values, places = inside.topk(min(size, inside.shape[1] - self.missing), sorted=False)
        count = groups.shape[1]
        return values, start + groups.gather(1, places % count) * GROUP + places // count

    def _products(self, queries: Tensor, room: Tensor) -> Tensor:
        """Write the scores into the buffer `room`; allocating a new one would take a third as long as the product."""
        out = room[: len(queries) * len(self.vectors)].view(len(queries), -1)
        scores = torch.mm(queries, self.vectors.T, out=out).view(len(queries), GROUP, self.width)
        if self.missing:
            scores[:, GROUP - self.missing :, -1] = -torch.inf
        return scores


def _lay_out(y: Tensor) -> list[tuple[int, _Grid]]:
    """Return the start index and the grid of each block of candidates."""
    columns = BLOCKS[y.device.type][1]
    return [(start, _Grid(y[start : start + columns])) for start in range(0, len(y), columns)]


def _keys(scores: Tensor, indices: Tensor) -> Tensor:
    """Return integers that are larger for higher scores and, among equal scores, for lower indices."""
    bits = (scores + 0.0).view(torch.int32)  # adding 0.0 turns -0.0 into 0.0
    ordered = torch.where(bits < 0, bits ^ LOW, bits)  # the bits of negative floats sort in reverse
    return (ordered.long() << 32) | (LOW - indices)


def _indices(keys: Tensor) -> Tensor:
    return LOW - (keys & LOW)


def _scores(keys: Tensor) -> Tensor:
    ordered = (keys >> 32).int()
    return torch.where(ordered < 0, ordered ^ LOW, ordered).view(torch.float32)
