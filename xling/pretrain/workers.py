"""Several processes that train one model: they split the micro-batches of an update and sum their gradients.

torchrun starts several processes; a single process needs no launcher. Gradients are summed in flat buffers after
accumulation, so there is no need to find parameters that no batch has used.
"""

import os
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

PATIENCE = timedelta(days=1)  # other processes wait while the first waits for the lock, validates or saves


class Workers:
    """The group of processes to which this process belongs."""

    def __init__(self, device: torch.device) -> None:
        self.rank, self.world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        self.device, self.first = device, self.rank == 0  # the first process writes the files
        if self.world > 1:
            backend = "nccl" if device.type == "cuda" else "gloo"
            dist.init_process_group(backend, timeout=PATIENCE)

    def add(self, tensors: Iterable[Tensor]) -> None:
        """Sum tensors over all processes, in place."""
        if self.world > 1:
            for tensor in tensors:
                dist.all_reduce(tensor)

    def any(self, flag: bool) -> bool:
        """Return whether the flag is set in any process."""
        if self.world == 1:
            return flag
        votes = torch.tensor(float(flag), device=self.device)
        dist.all_reduce(votes)
        return bool(votes.item() > 0)

    def broadcast(self, value: Any) -> Any:
        """Return the value of the first process in all processes."""
        box = [value]
        if self.world > 1:
            dist.broadcast_object_list(box, device=self.device)
        return box[0]

    def wait(self) -> None:
        """Wait for all processes; torchrun kills the others soon after the first of them exits."""
        self.broadcast(None)

    def leave(self) -> None:
        """Leave the group."""
        if self.world > 1 and dist.is_initialized():
            dist.destroy_process_group()
