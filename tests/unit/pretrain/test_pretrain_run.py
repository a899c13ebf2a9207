"""The command: what it writes, when it leaves, what it refuses."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file
from toy_runs import SIZE, changed, make_vocab

from xling.core.seeds import derive_seed
from xling.model.encoder import Encoder
from xling.model.files import load_encoder, weights_of
from xling.pretrain.config import read_run
from xling.pretrain.record import times_diverged

Command = Callable[..., list[str]]
Launch = Callable[..., Any]


def metrics(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]


def test_a_run_directory_explains_itself(command: Command, launch: Launch, tmp_path: Path) -> None:
    run = changed()
    done = launch(command(run))
    assert done.wait() == 0, done.said
    out = tmp_path / "work.out"
    names = {"run.json", "train.log", "metrics.jsonl", "provenance.json", "model.json", "model.safetensors"}
    assert {path.name for path in out.iterdir()} == names
    assert json.loads((out / "run.json").read_text()) == run
    lines = metrics(out)
    trained = [line for line in lines if line["kind"] == "train"]
    expected = {"time", "loss", "perplexity", "lr", "tokens", "tokens_per_second", "share_of_peak", "seconds_left"}
    assert expected <= trained[-1].keys()
    assert trained[-1]["tokens"] == 12 * 4 * 128
    validated = [line for line in lines if line["kind"] == "validation"]
    assert all(set(line["unigram_entropy"]) == {"en", "fr"} for line in validated)
    best = min(validated, key=lambda line: line["perplexity"]["en"])
    kept = load_file(tmp_path / "work" / "checkpoints" / f"step-{best['update']:07d}" / "weights.safetensors")
    assert all((kept[name] == value).all() for name, value in load_file(out / "model.safetensors").items())
    assert load_encoder(out).config.languages == ("en", "fr")
    (attempt,) = json.loads((out / "provenance.json").read_text())["attempts"]
    assert (attempt["outcome"], attempt["update"]) == ("finished", 12)
    assert "update 12" in (out / "train.log").read_text()
    assert not (tmp_path / "work" / "lock.json").exists()


def test_run_again_after_the_end_it_gives_the_same_model_at_once(
    command: Command, launch: Launch, tmp_path: Path
) -> None:
    assert launch(command(changed())).wait() == 0
    model = tmp_path / "work.out" / "model.safetensors"
    content = model.read_bytes()
    model.unlink()
    assert launch(command(changed()), die_at=12).wait() == 0  # no update is done again
    assert model.read_bytes() == content


def test_no_updates_give_the_untrained_encoder(command: Command, launch: Launch, tmp_path: Path) -> None:
    assert launch(command(changed(pretrain__updates=0))).wait() == 0
    found = load_encoder(tmp_path / "work.out")
    drawn = weights_of(Encoder(found.config, derive_seed("run", 1, "en", "fr")))
    assert all((value == drawn[name]).all() for name, value in weights_of(found).items())


@pytest.mark.parametrize("change", [{"pretrain__lr": 4e-3}, {"seed": 2}, {"pretrain__updates": 13}])
def test_a_changed_configuration_never_resumes(
    command: Command, launch: Launch, tmp_path: Path, change: dict[str, Any]
) -> None:
    assert launch(command(changed()), die_at=7).wait() == -signal.SIGKILL
    refused = launch(command(changed(**change)))
    assert refused.wait() == 2
    assert "this directory belongs to another run: " + next(iter(change)).replace("__", ".") in refused.said
    assert refused.said.count("\n") == 1
    assert not (tmp_path / "work.out").exists()


def test_a_truncated_newest_checkpoint_is_passed_over(command: Command, launch: Launch, tmp_path: Path) -> None:
    assert launch(command(changed(), "whole")).wait() == 0
    assert launch(command(changed()), die_at=8).wait() == -signal.SIGKILL
    newest = sorted((tmp_path / "work" / "checkpoints").glob("step-*"))[-1]
    weights = newest / "weights.safetensors"
    os.truncate(weights, weights.stat().st_size - 100)
    again = launch(command(changed()))
    assert again.wait() == 0
    assert f"{newest.name} is damaged and passed over" in again.said
    results = [(tmp_path / f"{name}.out" / "model.safetensors").read_bytes() for name in ("whole", "work")]
    assert results[0] == results[1]


def test_before_its_deadline_it_saves_and_asks_to_be_run_again(
    command: Command, launch: Launch, tmp_path: Path
) -> None:
    left = launch(command(changed(pretrain__updates=10**6), "work", "--deadline", str(time.time() + 4)))
    assert left.wait() == 75
    assert "run me again" in left.said
    assert not (tmp_path / "work.out").exists()
    (attempt,) = json.loads((tmp_path / "work" / "provenance.json").read_text())["attempts"]
    newest = sorted((tmp_path / "work" / "checkpoints").glob("step-*"))[-1]
    assert attempt["outcome"] == "left"
    assert newest.name == f"step-{attempt['update']:07d}"


def test_sigterm_saves_and_leaves(command: Command, launch: Launch, tmp_path: Path) -> None:
    running = launch(command(changed(pretrain__updates=10**6)))
    wait_for(tmp_path / "work" / "checkpoints" / "step-0000003")
    running.process.terminate()
    assert running.wait() == 75
    assert "run me again" in running.said


def test_a_second_process_refuses_or_waits_for_the_finished_model(
    command: Command, launch: Launch, tmp_path: Path
) -> None:
    run = changed(pretrain__updates=250)
    first = launch(command(run))
    wait_for(tmp_path / "work" / "checkpoints")
    with standing_still(first):
        second, waiting = launch(command(run)), launch(command(run, "work", "--wait-for-lock"))
        assert second.wait() == 2
        wait_until_said(waiting, "waiting for it")
    assert f"in use by process {first.process.pid}" in second.said
    assert (first.wait(), waiting.wait()) == (0, 0)
    attempts = json.loads((tmp_path / "work" / "provenance.json").read_text())["attempts"]
    assert [attempt["outcome"] for attempt in attempts] == ["finished", "finished"]


def test_who_waited_takes_the_finished_model_although_its_directory_is_gone(
    command: Command, launch: Launch, tmp_path: Path
) -> None:
    arguments = command(changed(pretrain__updates=250))
    arguments[arguments.index("--work")] = "--work-below"
    first = launch(arguments)
    wait_until("a checkpoint", lambda: any((tmp_path / "work").glob("*/checkpoints")))
    with standing_still(first):
        second = launch([*arguments, "--wait-for-lock"], die_at=1)  # it must not train
        wait_until_said(second, "waiting for it")
    assert (first.wait(), second.wait()) == (0, 0), second.said
    assert list((tmp_path / "work").iterdir()) == []
    attempts = json.loads((tmp_path / "work.out" / "provenance.json").read_text())["attempts"]
    assert len(attempts) == 1


def test_models_of_other_languages_start_from_other_numbers(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    seeds = []
    for languages in (["en"], ["fr"], ["en", "fr"]):
        path.write_text(json.dumps(changed() | {"languages": languages, "selection_language": languages[0]}))
        seeds.append(read_run(path).seed)
    assert len(set(seeds)) == 3


def test_how_often_it_is_saved_decides_nothing(command: Command, launch: Launch, tmp_path: Path) -> None:
    run = changed()
    for key in ("save_every", "keep_checkpoints"):
        del run["pretrain"][key]
    kept, weights = [], []
    for name, every, keep in (("rarely", "100", "1"), ("often", "2", "9")):
        arguments = command(run, name, "--save-every", every, "--keep-checkpoints", keep)
        done = launch(arguments)
        assert done.wait() == 0, done.said
        kept.append(len(list((tmp_path / name / "checkpoints").glob("step-*"))))
        weights.append((tmp_path / f"{name}.out" / "model.safetensors").read_bytes())
    assert kept[0] <= 2 < 6 <= kept[1]
    assert weights[0] == weights[1]


def test_a_lost_best_checkpoint_is_replaced_by_the_one_resumed_from(
    command: Command, launch: Launch, tmp_path: Path
) -> None:
    arguments = command(changed(pretrain__keep_checkpoints=3))
    assert launch(arguments).wait() == 0
    newest = sorted((tmp_path / "work" / "checkpoints").glob("step-*"))[-1]
    meta = json.loads((newest / "meta.json").read_text())
    (newest / "meta.json").write_text(json.dumps(meta | {"best_update": 3}))
    before = (tmp_path / "work.out" / "model.safetensors").read_bytes()
    metrics = tmp_path / "work" / "metrics.jsonl"
    said = [line.split('"kind"')[1] for line in metrics.read_text().splitlines()]
    shutil.rmtree(tmp_path / "work" / "checkpoints" / "step-0000003", ignore_errors=True)
    again = launch(arguments)
    assert again.wait() == 0, again.said
    assert "is gone; the one resumed from takes its place" in again.said
    assert (tmp_path / "work.out" / "model.safetensors").read_bytes() == before
    assert [line.split('"kind"')[1] for line in metrics.read_text().splitlines()] == said


def test_a_loss_that_is_no_number_stops_the_run(command: Command, launch: Launch, tmp_path: Path) -> None:
    wild = {"pretrain__lr": 1e30, "pretrain__warmup": 0, "pretrain__clip": 1e30, "shape__norm": "pre"}
    stopped = launch(command(changed(**wild)))
    assert stopped.wait() == 2
    assert "the loss is nan at update" in stopped.said
    assert "the last good checkpoint is" in stopped.said
    assert "step-0000000" in stopped.said
    assert not (tmp_path / "work.out").exists()
    again = launch(command(changed(**wild)))
    assert again.wait() == 2
    assert "the loss is nan at update" in again.said
    hopeless = launch(command(changed(**wild)))
    assert hopeless.wait() == 2
    assert "provenance.json: this training has diverged 2 times from its last checkpoint" in hopeless.said
    assert hopeless.said.count("\n") == 1
    attempts = json.loads((tmp_path / "work" / "provenance.json").read_text())["attempts"]
    assert [attempt["outcome"] for attempt in attempts] == ["diverged", "diverged"]


@pytest.mark.parametrize(
    ("ends", "times"),
    [
        ([], 0),
        ([("diverged", 0), ("left", 0)], 0),
        ([(None, 0), ("diverged", 0)], 1),
        ([("left", 0), ("diverged", 30), ("diverged", 30)], 2),
        ([("diverged", 0), ("diverged", 30)], 1),  # it came further: the new checkpoint was not tried yet
    ],
)
def test_a_training_has_diverged_as_often_as_in_a_row_from_one_checkpoint(
    tmp_path: Path, ends: list[tuple[str | None, int]], times: int
) -> None:
    """An attempt that was killed wrote no outcome."""
    attempts = [{"outcome": outcome, "from_update": first} if outcome else {} for outcome, first in ends]
    (tmp_path / "provenance.json").write_text(json.dumps({"attempts": attempts}))
    assert times_diverged(tmp_path / "provenance.json") == times
    assert times_diverged(tmp_path / "nothing.json") == 0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--streams", "en"], "expected LANGUAGE=PATH"),
        (["--vocab", "/nowhere"], "/nowhere/vocab.json: no such file"),
        (["--streams", "fr=/nowhere"], "--streams fr=/nowhere: expected LANGUAGE=PATH, each language once"),
    ],
)
def test_bad_arguments_are_one_line_and_claim_nothing(
    command: Command, launch: Launch, tmp_path: Path, flags: list[str], message: str
) -> None:
    refused = launch([*command(changed()), *flags])
    assert refused.wait() == 2
    assert message in refused.said
    assert refused.said.count("\n") == 1
    assert list((tmp_path / "work").iterdir()) == []


def test_a_language_without_streams_is_named(command: Command, launch: Launch) -> None:
    arguments = command(changed())
    place = arguments.index("--streams", arguments.index("--streams") + 1)
    refused = launch(arguments[:place] + arguments[place + 2 :])
    assert refused.wait() == 2
    assert "--streams: nothing for fr" in refused.said


def test_streams_that_are_not_there_are_named(command: Command, launch: Launch) -> None:
    refused = launch(["fr=/nowhere" if word.startswith("fr=") else word for word in command(changed())])
    assert refused.wait() == 2
    assert "/nowhere/meta.json" in refused.said


def wait_until(what: str, is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is so."""
    give_up = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < give_up, f"never came: {what}"
        time.sleep(0.01)


def wait_for(path: Path) -> None:
    """Wait until a path exists."""
    wait_until(str(path), path.exists)


def wait_until_said(child: Any, words: str) -> None:
    """Wait until a process has said something."""
    wait_until(words, lambda: child.log.exists() and words in child.said)


@contextmanager
def standing_still(child: Any) -> Iterator[None]:
    """Let a process stand still, so that it holds its lock; a lock is taken for dead after STALE_SECONDS."""
    os.kill(child.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(child.process.pid, signal.SIGCONT)


def test_structure_between_the_languages_is_in_the_metrics(command: Command, launch: Launch, tmp_path: Path) -> None:
    make_vocab(tmp_path, size=SIZE)
    (tmp_path / "en.txt").write_text("the cat\nthe mat\n")
    (tmp_path / "fr.txt").write_text("le chat\nle tapis\n")
    sides = [word for code in ("en", "fr") for word in ("--parallel", f"{code}={tmp_path / code}.txt")]
    done = launch([*command(changed()), "--vocab", str(tmp_path), *sides])
    assert done.wait() == 0, done.said
    validated = [line for line in metrics(tmp_path / "work.out") if line["kind"] == "validation"]
    assert [line["update"] for line in validated] == [0, 5, 10, 12]
    assert all(len(line["cka"]) == len(line["retrieval"]["en-fr"]) == 3 for line in validated)
    assert validated[-1]["sentences"] == 2
