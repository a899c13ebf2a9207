"""Several processes that train one model: they split the micro-batches of an update and add their gradients.

Started by torchrun, or alone. Gradients are summed in flat buffers after accumulation, so nothing has to search for
parameters that a language did not use.
"""

import os
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

PATIENCE = timedelta(days=1)  # the first process may wait for the lock, validate or save while the others stand by


class Workers:
    """The group of processes this one belongs to."""

    def __init__(self, device: torch.device) -> None:
        self.rank, self.world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        self.device = device
        if self.world > 1:
            backend = "nccl" if device.type == "cuda" else "gloo"
            dist.init_process_group(backend, timeout=PATIENCE)

    @property
    def first(self) -> bool:
        """Say whether this process writes the files."""
        return self.rank == 0

    def add(self, tensors: Iterable[Tensor]) -> None:
        """Sum tensors over all processes, in place."""
        if self.world > 1:
            for tensor in tensors:
                dist.all_reduce(tensor)

    def any(self, flag: bool) -> bool:
        """Say whether any process says so."""
        if self.world == 1:
            return flag
        votes = torch.tensor(float(flag), device=self.device)
        dist.all_reduce(votes)
        return bool(votes.item() > 0)

    def tell(self, value: Any) -> Any:
        """Return what the first process gave, in all processes."""
        box = [value]
        if self.world > 1:
            dist.broadcast_object_list(box, device=self.device)
        return box[0]

    def wait(self) -> None:
        """Wait until all processes are here; torchrun kills the others soon after the first one leaves."""
        self.tell(None)

    def leave(self) -> None:
        """Take leave of the other processes."""
        if self.world > 1 and dist.is_initialized():
            dist.destroy_process_group()
