"""Killed at a random step and run again, a model ends with the same bits; several processes follow the same curve."""

import json
import random
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file
from toy_runs import changed

from xling.pretrain.run import main

Command = Callable[..., list[str]]
PORTS = range(20_000, 32_000)  # below those that systems give to connections
SEPARATE = {"embeddings": True, "layers": 0}
SETTINGS: dict[str, dict[str, Any]] = {  # what the engine sees of the ten of Table 1, and of separate token vectors
    "default": {},
    "wiki-cc": {"seed": 2},
    "no-anchors": {"pretrain__random_words": "any"},
    "default-anchors": {"pretrain__random_words": "language"},
    "extra-anchors": {  # this one also shows lines and the other norm
        "seed": 3,
        "pretrain__sequences": "lines",
        "shape__norm": "pre",
        "pretrain__schedule": "linear",
    },
    "sep-emb": {"separate": SEPARATE, "softmax": "per-language"},
    "sep-l1-3": {"separate": {"embeddings": False, "layers": 1}},
    "sep-l1-6": {"separate": {"embeddings": False, "layers": 2}},
    "sep-emb-l1-3": {"separate": {"embeddings": True, "layers": 1}, "softmax": "per-language"},
    "sep-emb-l1-6": {"separate": {"embeddings": True, "layers": 2}, "softmax": "per-language"},
    "sep-tokens": {"separate": {"embeddings": "tokens", "layers": 0}, "softmax": "per-language"},
}


def lines(path: Path, *names: str) -> list[dict[str, Any]]:
    """Return some values of each line of metrics.jsonl, times left out."""
    return [{name: record.get(name) for name in names} for record in map(json.loads, path.read_text().splitlines())]


def check_the_same(tmp_path: Path, *files: str) -> None:
    """Check that the run that was killed and resumed ended as the whole one did."""
    for name in ("work.out/model.safetensors", *files):
        whole, killed = (tmp_path / name.replace("work", kind, 1) for kind in ("whole", "killed"))
        assert whole.read_bytes() == killed.read_bytes(), name
    names = ("kind", "update", "tokens", "loss", "losses", "lr")
    curves = [lines(tmp_path / f"{kind}.out" / "metrics.jsonl", *names) for kind in ("whole", "killed")]
    assert curves[0] == curves[1]
    assert [line["update"] for line in curves[0] if line["kind"] == "validation"] == [0, 5, 10, 12]


@pytest.mark.parametrize("setting", SETTINGS)
def test_killed_and_resumed_gives_the_same_bits(
    setting: str, command: Command, launch: Callable[..., Any], call: Callable[..., Any], tmp_path: Path
) -> None:
    run = changed(**SETTINGS[setting])
    killed = launch(command(run, "killed"), die_at=random.Random(setting).randint(1, 11))
    whole = call(main, *command(run, "whole"))
    assert (whole.code, killed.wait()) == (0, -9), whole.said + killed.said
    assert not (tmp_path / "killed.out" / "model.safetensors").exists()
    again = call(main, *command(run, "killed"))
    assert again.code == 0, again.said
    assert "resumed from" in again.said
    last = "work/checkpoints/step-0000012"
    check_the_same(tmp_path, f"{last}/weights.safetensors", f"{last}/optimiser.safetensors")


def test_killed_before_its_first_checkpoint_it_says_everything_once(
    command: Command, launch: Callable[..., Any], call: Callable[..., Any], tmp_path: Path
) -> None:
    killed = launch(command(changed(), "killed"), die_at=0)
    assert (call(main, *command(changed(), "whole")).code, killed.wait()) == (0, -9)
    assert [line["update"] for line in lines(tmp_path / "killed" / "metrics.jsonl", "update")] == [0]
    assert not list((tmp_path / "killed").glob("checkpoints/step-*"))
    assert call(main, *command(changed(), "killed")).code == 0
    check_the_same(tmp_path)


def free_port() -> str:
    """Return a port where nobody listens, and which no connection is given before the first process listens there."""
    while True:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("", port))  # on every address, as the first process will
            return str(port)


@pytest.mark.parametrize(("setting", "worlds"), [("default", (2,)), ("sep-emb-l1-3", (2, 4))])
def test_several_processes_follow_the_curve_of_one(
    setting: str, worlds: tuple[int, ...], command: Command, launch: Callable[..., Any], call: Any, tmp_path: Path
) -> None:
    run = changed(**SETTINGS[setting], pretrain__updates=6, pretrain__validate_every=3)
    assert call(main, *command(run, "of-1")).code == 0
    for world in worlds:
        about = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": str(world)}
        group = [launch(command(run, f"of-{world}"), RANK=str(rank), **about) for rank in range(world)]
        assert [member.wait() for member in group] == [0] * world, "".join(member.said for member in group)
    one = tmp_path / "of-1.out"
    for world in worlds:
        other = tmp_path / f"of-{world}.out"
        names = ("kind", "update", "tokens", "lr")
        assert lines(one / "metrics.jsonl", *names) == lines(other / "metrics.jsonl", *names)
        for mine, theirs in zip(
            lines(one / "metrics.jsonl", "loss"), lines(other / "metrics.jsonl", "loss"), strict=True
        ):
            assert theirs["loss"] == pytest.approx(mine["loss"], rel=2e-4)
        weights, others = load_file(one / "model.safetensors"), load_file(other / "model.safetensors")
        assert max(float((weights[name] - others[name]).abs().max()) for name in weights) < 2e-4
