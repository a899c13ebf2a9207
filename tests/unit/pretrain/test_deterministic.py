"""With --deterministic every kernel of a training is one that repeats its bits."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from toy_runs import changed

from xling.pretrain.run import main


def train_and_tell(arguments: list[str], path: Path) -> None:
    """Train in this process, and write what it asked of the kernels."""
    sys.argv = ["run", *arguments]
    main()
    told = {"kernels": torch.are_deterministic_algorithms_enabled(), "cublas": os.environ["CUBLAS_WORKSPACE_CONFIG"]}
    path.write_text(json.dumps(told))


def test_a_whole_training_uses_kernels_that_repeat_their_bits(
    command: Callable[..., list[str]], context: Any, tmp_path: Path
) -> None:
    arguments = command(changed(pretrain__updates=5), "work", "--deterministic")
    child = context.Process(target=train_and_tell, args=(arguments, tmp_path / "told.json"))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert json.loads((tmp_path / "told.json").read_text()) == {"kernels": True, "cublas": ":4096:8"}
    assert (tmp_path / "work.out" / "model.safetensors").is_file()
