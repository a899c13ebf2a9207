"""Steps without the cost of launching them: on a GPU, work on a shape seen before is replayed as a CUDA graph."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from xling.model.device import captured

Shapes = tuple[torch.Size, ...]


class Replay:
    """Does work on tensors: eagerly the first time a shape is seen, captured the second, replayed from then on.

    Fine-tuning at the paper's batch sizes is bound by launches, not by arithmetic. A shape that comes once is never
    captured. On the CPU everything is eager.
    """

    def __init__(self, work: Callable[[Sequence[Tensor]], None], device: torch.device) -> None:
        self.work, self.captures = work, device.type == "cuda"
        self.graphs: dict[Shapes, tuple[torch.cuda.CUDAGraph, list[Tensor]] | None] = {}
        self.pool = torch.cuda.graph_pool_handle() if self.captures else None

    def __call__(self, tensors: Sequence[Tensor]) -> None:
        """Do the work, with these tensors' values."""
        shapes = tuple(tensor.shape for tensor in tensors)
        if not self.captures or shapes not in self.graphs:
            self.graphs[shapes] = None
            self.work(tensors)
            return
        graph, places = self.graphs[shapes] or self._capture(shapes, tensors)
        for place, tensor in zip(places, tensors, strict=True):
            place.copy_(tensor, non_blocking=True)
        graph.replay()

    def _capture(self, shapes: Shapes, tensors: Sequence[Tensor]) -> tuple[torch.cuda.CUDAGraph, list[Tensor]]:
        places = [tensor.clone() for tensor in tensors]
        graph = torch.cuda.CUDAGraph()
        with captured(graph, self.pool):
            self.work(places)
        self.graphs[shapes] = (graph, places)
        return graph, places
