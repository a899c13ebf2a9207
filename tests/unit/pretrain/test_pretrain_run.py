"""The command: what it writes, when it leaves, what it refuses; killed and run again, or in several processes."""

import json
import os
import random
import shutil
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from toy_runs import changed, read, separated

from xling.core.errors import InputError
from xling.core.io import read_json, write_json
from xling.core.seeds import derive_seed
from xling.model.encoder import Encoder
from xling.model.files import load_encoder, weights_of
from xling.pretrain.loop import Trainer
from xling.pretrain.record import times_diverged
from xling.pretrain.run import choose_precision, choose_work, main, parse_args

CHOOSE_WORK = choose_work  # itself: runs of tests are where they can be looked into
FOR_EVER = changed(pretrain__updates=10**6)
TOLD = ("kind", "update", "tokens", "loss", "losses", "lr")  # the same however often a run is resumed


def attempts(folder):
    return read_json(folder / "provenance.json")["attempts"]


def lines(folder, *names, kind=None):
    """Return the lines of metrics.jsonl of a kind; if there are names, these values alone."""
    found = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    return [{name: line.get(name) for name in names or line} for line in found if kind in (None, line["kind"])]


def checkpoints(folder):
    return sorted((folder / "checkpoints").glob("step-*"))


def test_a_run_directory_explains_itself(command, call, tmp_path, monkeypatch):
    sides = {"en": "the cat\nthe mat\n", "fr": "le chat\nle tapis\n"}
    for code, text in sides.items():
        (tmp_path / f"{code}.txt").write_text(text)
    flags = [word for code in sides for word in ("--parallel", f"{code}={tmp_path / code}.txt")]
    arguments, out = command(changed(), "work", *flags), tmp_path / "work.out"
    done = call(main, *arguments)
    assert done.code == 0, done.said
    names = {"run.json", "train.log", "metrics.jsonl", "provenance.json", "model.json", "model.safetensors"}
    assert {path.name for path in out.iterdir()} == names | {f".{name}.sha256" for name in names}
    assert read_json(out / "run.json") == changed()
    last = lines(out, kind="train")[-1]
    expected = {"time", "loss", "perplexity", "lr", "tokens", "tokens_per_second", "share_of_peak", "seconds_left"}
    assert expected <= last.keys()
    assert last["tokens"] == 12 * 4 * 128
    validated = lines(out, kind="validation")
    assert [(line["update"], line["sentences"]) for line in validated] == [(0, 2), (5, 2), (10, 2), (12, 2)]
    for line in validated:
        assert (set(line["unigram_entropy"]), len(line["cka"]), len(line["retrieval"]["en-fr"])) == ({"en", "fr"}, 3, 3)
    best = min(validated, key=lambda line: line["perplexity"]["en"])
    kept = load_file(tmp_path / "work" / "checkpoints" / f"step-{best['update']:07d}" / "weights.safetensors")
    assert all(torch.equal(kept[name], value) for name, value in weights_of(load_encoder(out)).items())
    assert [(attempt["outcome"], attempt["update"]) for attempt in attempts(out)] == [("finished", 12)]
    assert "update 12" in (out / "train.log").read_text()
    assert not (tmp_path / "work" / "lock.json").exists()
    content = (out / "model.safetensors").read_bytes()
    (out / "model.safetensors").unlink()
    monkeypatch.setattr(Trainer, "update", lambda *_: pytest.fail("it trained"))
    assert call(main, *arguments).code == 0  # run again after the end, it does no update again
    assert (out / "model.safetensors").read_bytes() == content


def test_no_updates_give_the_untrained_encoder_and_deterministic_kernels_can_be_asked_for(
    command, call, tmp_path, monkeypatch
):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    try:
        assert call(main, *command(changed(pretrain__updates=0), "work", "--deterministic")).code == 0
        assert torch.are_deterministic_algorithms_enabled()
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    finally:
        torch.use_deterministic_algorithms(False)
    found = load_encoder(tmp_path / "work.out")
    untrained = Encoder(found.config, derive_seed("run", 1, "en", "fr"))
    assert all(map(torch.equal, found.parameters(), untrained.parameters()))


def test_whatever_decides_the_weights_decides_where_they_are_trained(command, monkeypatch):
    def chosen(*flags, **changes):
        monkeypatch.setattr("sys.argv", ["run", *command(changed(**changes), "work", *flags)])
        return CHOOSE_WORK(parse_args()).name

    plain = chosen()
    assert plain == chosen("--save-every", "7", "--deadline", "9")
    other = [chosen(pretrain__lr=4e-3), chosen(seed=2), chosen(pretrain__updates=13), chosen("--revision", "2")]
    monkeypatch.setattr("xling.pretrain.run.read_json", lambda path, read=read_json: read(path) | {"splits": {}})
    assert len({plain, *other, chosen()}) == 6  # other text


@pytest.mark.parametrize("reason", ["deadline", signal.SIGTERM, signal.SIGINT])
def test_it_saves_and_leaves_in_time(reason, command, call, launch, tmp_path):
    if reason == "deadline":
        code, _, said = call(main, *command(FOR_EVER, "work", "--deadline", time.time() + 2.5))
    else:
        left = launch(command(FOR_EVER))
        wait_until("a checkpoint", (tmp_path / "work/checkpoints/step-0000003").exists)
        os.kill(left.process.pid, reason)
        code, said = left.wait(), left.said
    assert code == 75
    assert "run the same command again to resume" in said
    assert not (tmp_path / "work.out").exists()
    (attempt,) = attempts(tmp_path / "work")
    assert attempt["outcome"] == "stopped"
    assert checkpoints(tmp_path / "work")[-1].name == f"step-{attempt['update']:07d}"
    assert (tmp_path / "work/precision.txt").read_text() == "float32\n"


def test_a_second_process_is_refused_or_waits_for_the_finished_model(command, launch, tmp_path):
    arguments = command(changed(pretrain__updates=40))
    first = launch(arguments, watched=False)
    wait_until("a checkpoint", lambda: any((tmp_path / "work").glob("*/checkpoints")))
    os.kill(first.process.pid, signal.SIGSTOP)  # it holds its lock, which is taken for dead after STALE_SECONDS
    try:
        waiting = launch([*arguments, "--wait-for-lock"], die_at=1, watched=False)  # it must not train
        refused = launch(arguments, watched=False)
        assert refused.wait() == 2
        wait_until("the second waits", lambda: waiting.log.exists() and "waiting for it" in waiting.said)
    finally:
        os.kill(first.process.pid, signal.SIGCONT)
    assert f"in use by process {first.process.pid}" in refused.said
    assert (first.wait(), waiting.wait()) == (0, 0), waiting.said
    assert list((tmp_path / "work").iterdir()) == []
    assert len(attempts(tmp_path / "work.out")) == 1


def test_lost_and_damaged_checkpoints_and_records_do_not_end_a_run(command, call, tmp_path):
    arguments = command(changed(), "work", "--save-every", "2", "--keep-checkpoints", "3")
    work, model = tmp_path / "work", tmp_path / "work.out" / "model.safetensors"
    assert call(main, *arguments).code == 0
    assert len(checkpoints(work)) in (3, 4)  # with the best
    meta = checkpoints(work)[-1] / "meta.json"
    write_json(meta, read_json(meta) | {"best_update": 3})
    before, metrics = model.read_bytes(), work / "metrics.jsonl"
    written = lines(work, *TOLD)
    shutil.rmtree(work / "checkpoints" / "step-0000003", ignore_errors=True)
    again = call(main, *arguments)
    assert again.code == 0, again.said
    assert "is missing or damaged; this one now counts as the best" in again.said
    assert model.read_bytes() == before
    assert lines(work, *TOLD) == written
    for path in (work / "provenance.json", meta):
        path.write_bytes(path.read_bytes() + b"\xff")
    with metrics.open("ab") as handle:
        handle.write(b'{"kind": "tr\xffin"}\n[1]\n{"upd')
    again = call(main, *arguments)
    assert again.code == 0, again.said
    assert [again.said.count(text) for text in ("is damaged and passed over", "a damaged line is left out")] == [3, 3]
    assert model.read_bytes() == before
    assert len(attempts(tmp_path / "work.out")) == 1


def test_a_loss_that_is_no_number_stops_the_run(command, refused, tmp_path):
    wild = command(changed(pretrain__lr=1e30, pretrain__warmup=0, pretrain__clip=1e30, shape__norm="pre"))
    good = f"the last good checkpoint is {tmp_path / 'work' / 'checkpoints/step-0000000'}"
    often = "provenance.json: training diverged 2 times after its last checkpoint"
    for problem in ("the loss is nan at update", good, often):
        assert problem in refused(main, *wild, out=tmp_path / "work.out")
    assert [attempt["outcome"] for attempt in attempts(tmp_path / "work")] == ["diverged", "diverged"]
    for ends, times in (
        ("diverged0 left0", 0),
        ("killed0 diverged0", 1),
        ("left0 diverged3 diverged3", 2),
        ("diverged0 diverged3", 1),  # it came further: the new checkpoint was not tried yet
    ):
        known = [{"outcome": end[:-1], "from_update": int(end[-1])} for end in ends.split()]
        write_json(tmp_path / "provenance.json", {"attempts": known})
        assert times_diverged(tmp_path / "provenance.json") == times


@pytest.mark.parametrize(
    ("kept", "added", "message"),  # the last two words are the streams of French
    [
        (None, ["--vocab", "/nowhere"], "/nowhere/vocab.json: no such file"),
        (None, ["--streams", "fr=/nowhere"], "--streams fr=/nowhere: expected LANGUAGE=PATH, each language once"),
        (-2, [], "--streams: nothing for fr"),
        (-2, ["--streams", "fr=/nowhere"], "/nowhere/meta.json"),
    ],
)
def test_bad_arguments_are_one_line_and_claim_nothing(kept, added, message, command, refused, tmp_path):
    assert message in refused(main, *command(changed())[:kept], *added, out=tmp_path / "work.out")
    assert not list((tmp_path / "work").rglob("*"))


def wait_until(what, is_so, seconds=60.0):
    """Wait until something is so."""
    give_up = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < give_up, f"never came: {what}"
        time.sleep(0.01)


def test_a_training_keeps_the_precision_that_it_began_with(tmp_path):
    note, cpu = tmp_path / "precision.txt", torch.device("cpu")
    note.write_text("fp16\n")  # of an attempt that saved nothing
    assert choose_precision("auto", cpu, tmp_path) == "float32"
    (tmp_path / "checkpoints/step-0000005").mkdir(parents=True)
    for begun, chosen in {"bf16\n": "bf16", "fp16": "fp16", "float32": "float32"}.items():
        note.write_text(begun)
        assert choose_precision("auto", cpu, tmp_path) == chosen
    note.write_text("bf17\n")
    with pytest.raises(InputError, match="expected one of float32, bf16, fp16, found 'bf17'"):
        choose_precision("auto", cpu, tmp_path)
    note.unlink()  # a run of an older version
    assert choose_precision("auto", cpu, tmp_path) == "float32"


# key | value as JSON | what the line says; one that begins with : comes after the key
MISTAKES = """
pretrain.betas | [0.9] | : expected at least 2 items, found a list of 1
pretrain.micro_batch_tokens | 8 | : 8 holds no sequence of length 16
pretrain.length | 64 | : 64 is longer than the model's 32 positions
pretrain.random_share | 0.3 | : mask_share and random_share together exceed 1
selection_language | "de" | : 'de' is none of en, fr
shape.sentences | 2 | pretrain.sequences: expected lines, because the model has sentence vectors
shape | {} | shape.layers: missing key (Transformer layers.)
"""


@pytest.mark.parametrize("row", MISTAKES.strip().splitlines())
def test_a_wrong_run_is_one_clear_line(tmp_path, row):
    key, value, problem = row.split(" | ")
    with pytest.raises(InputError) as caught:
        read(tmp_path, **{key.replace(".", "__"): json.loads(value)})
    line = f"{key}{problem}" if problem.startswith(":") else problem
    assert str(caught.value).startswith(f"{tmp_path / 'run.json'}: {line}")
    assert "\n" not in str(caught.value)


PORTS = range(20_000, 32_000)  # below those that systems give to connections
SETTINGS: dict[str, dict[str, Any]] = {  # what the engine sees of the ten of Table 1, and of separate token vectors
    "default": {},
    # Four differ for the engine in the text alone: here they also show other draws, words, sequences and the other norm.
    "wiki-cc": {"seed": 2, "pretrain__language_draws": "stratified"},
    "no-anchors": {"pretrain__language_share": "tokens", "shape__activation": "relu"},
    "default-anchors": {"pretrain__random_words": "language"},
    "extra-anchors": {"pretrain__sequences": "lines", "shape__norm": "pre", "pretrain__schedule": "linear"},
    "sep-emb": separated(True, 0),
    "sep-l1-3": {"separate": {"embeddings": False, "layers": 1}},
    "sep-l1-6": {"separate": {"embeddings": False, "layers": 2}},
    "sep-emb-l1-3": separated(True, 1),
    "sep-emb-l1-6": separated(True, 2),
    "sep-tokens": separated("tokens", 0),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_killed_and_resumed_gives_the_same_bits(setting, command, launch, call, tmp_path):
    run, die_at = changed(**SETTINGS[setting]), random.Random(setting).randint(1, 11) if SETTINGS[setting] else 0
    killed = launch(command(run, "killed"), die_at=die_at)
    whole = call(main, *command(run, "whole"))
    assert (whole.code, killed.wait()) == (0, -9), whole.said + killed.said
    assert not (tmp_path / "killed.out" / "model.safetensors").exists()
    if die_at == 0:  # before the first checkpoint, after its validation, which is said once for all that
        assert [line["update"] for line in lines(tmp_path / "killed")] == [0]
    again = call(main, *command(run, "killed"))
    assert again.code == 0, again.said
    assert ("resumed from" in again.said) == (die_at > 0)
    last = "/checkpoints/step-0000012"
    for name in (".out/model.safetensors", f"{last}/weights.safetensors", f"{last}/optimiser.safetensors"):
        assert Path(f"{tmp_path}/whole{name}").read_bytes() == Path(f"{tmp_path}/killed{name}").read_bytes(), name
    assert lines(tmp_path / "whole.out", *TOLD) == lines(tmp_path / "killed.out", *TOLD)
    assert [line["update"] for line in lines(tmp_path / "killed.out", kind="validation")] == [0, 5, 10, 12]


def free_port():
    """Return a port where nobody listens, and which no connection is given before the first process listens there."""
    while True:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("", port))  # on every address, as the first process will
            return str(port)


@pytest.mark.parametrize(("setting", "world"), [("default", 2), ("sep-emb-l1-3", 2), ("sep-emb-l1-3", 4)])
def test_several_processes_follow_the_curve_of_one(setting, world, command, launch, call, tmp_path):
    run = changed(**SETTINGS[setting], pretrain__updates=6, pretrain__validate_every=3)
    about = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": str(world)}
    group = [launch(command(run, "several"), RANK=str(rank), **about) for rank in range(world)]
    assert call(main, *command(run, "one")).code == 0
    assert [member.wait() for member in group] == [0] * world, "".join(member.said for member in group)
    for mine, theirs in zip(*(lines(tmp_path / f"{kind}.out", *TOLD) for kind in ("one", "several")), strict=True):
        del mine["losses"], theirs["losses"]  # of a language, so few that they differ by more
        assert theirs.pop("loss") == pytest.approx(mine.pop("loss"), rel=2e-4)
        assert mine == theirs
    weights, others = (load_file(tmp_path / f"{kind}.out" / "model.safetensors") for kind in ("one", "several"))
    assert max(float((weights[name] - others[name]).abs().max()) for name in weights) < 2e-4
