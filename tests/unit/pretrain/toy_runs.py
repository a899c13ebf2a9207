"""Toy languages, tiny models and processes that train them, for the tests of the training engine."""

import copy
import importlib
import json
import multiprocessing
import os
import signal
import sys
from collections import Counter
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from xling.bpe.build_vocabulary import write_vocabulary
from xling.bpe.streams import TokenStreamWriter, pack
from xling.bpe.train_bpe import SPECIAL_TOKENS, WORD_START, fit
from xling.core.errors import run
from xling.core.lock import Lock
from xling.model.encoder import Encoder
from xling.pretrain import loop
from xling.pretrain import run as command
from xling.pretrain.batches import Batches
from xling.pretrain.config import read_run
from xling.pretrain.engine import Engine
from xling.pretrain.optimiser import learning_rate

SIZE = 70

RUN: dict[str, Any] = {
    "model": "en-fr.toy.s1",
    "languages": ["en", "fr"],
    "selection_language": "en",
    "seed": 1,
    "shape": {
        "layers": 2, "width": 16, "heads": 2, "feedforward": 32, "activation": "gelu", "dropout": 0.1,
        "attention_dropout": 0.1, "norm": "post", "norm_eps": 1e-12, "positions": 32, "language_embeddings": True,
    },
    "separate": {"embeddings": False, "layers": 0},
    "softmax": "shared",
    "pretrain": {
        "sequences": "streams", "length": 16, "micro_batch_tokens": 128, "micro_batches": 4, "updates": 12,
        "language_exponent": 0.7, "mask_rate": 0.15, "mask_share": 0.8, "random_share": 0.1,
        "random_words": "any", "lr": 3e-3, "warmup": 4, "warmup_from": 1e-7, "schedule": "inverse-sqrt",
        "final_lr_share": 0.0, "betas": [0.9, 0.999], "eps": 1e-6, "weight_decay": 0.01, "clip": 5.0,
        "precision": "float32", "validate_every": 5, "validation_tokens": 400, "save_every": 3, "keep_checkpoints": 2,
    },
}  # fmt: skip


def changed(**changes):
    """Return the toy run with some values set; `pretrain__lr=1` reaches into a part."""
    run = copy.deepcopy(RUN)
    for name, value in changes.items():
        place: Any = run
        *parents, last = name.split("__")
        for parent in parents:
            place = place[parent]
        place[last] = value
    return run


def write_streams(folder, code, shift, lines, size=SIZE):
    """Write a language in which each word nearly determines the next."""
    rng = np.random.default_rng(shift)
    with TokenStreamWriter(folder, size, code) as writer:
        for split, count in (("train", lines), ("valid", 60), ("test", 5)):
            text = []
            for _ in range(count):
                word, line = int(rng.integers(4, size)), []
                for _ in range(int(rng.integers(2, 12))):
                    word = 4 + (5 * word + shift + int(rng.integers(3))) % (size - 4)
                    line.append(word)
                text.append(line)
            writer.add(split, *pack(text))


def make_vocab(folder):
    """Write a joint vocabulary of English and French with as many pieces as the toy languages have words."""
    folder.mkdir()
    words = Counter({"the": 9, "cat": 5, "mat": 4, "le": 9, "chat": 5, "tapis": 4, "abcdefghijklmnopqrstuvwxyz" * 2: 1})
    characters = set("".join(words)) | {WORD_START}
    (folder / "joint.model").write_bytes(fit(words, SIZE - len(SPECIAL_TOKENS) - len(characters)))
    write_vocabulary("joint", dict.fromkeys(("en", "fr"), folder / "joint.model"), folder)


# The peak of the processor takes as long to measure as a toy to train; the folder of a run has a known name and stays.
WATCHED: list[tuple[Any, str, Any]] = [
    (loop, "measured_peak", lambda *_: 1e12),
    (command, "choose_work", lambda args: args.work_root),
    (Lock, "remove_folder", lambda _: None),
]


def watch(die_at, watched):
    """Let a training be looked into; if asked to, kill it at the end of an update, or (0) before its first checkpoint."""
    for owner, name, other in WATCHED if watched else ():
        setattr(owner, name, other)
    if die_at is not None:
        moment = "_after_update" if die_at else "_save"
        finish = getattr(loop.Trainer, moment)

        def deadly(self):
            if self.state.update == die_at:
                os.kill(os.getpid(), signal.SIGKILL)
            finish(self)

        setattr(loop.Trainer, moment, deadly)


def in_child(module, arguments, environment, log, prepare):
    """Run a command in this process, which is a new one and is prepared first."""
    os.environ.update(environment)
    sys.argv, sys.stderr = ["command", *arguments], log.open("w")
    prepare()
    run(importlib.import_module(module).main)


class Child:
    """One run of a command in a process of its own."""

    def __init__(self, module, arguments, log, prepare, **environment):
        context = multiprocessing.get_context("forkserver")  # it imports torch once
        context.set_forkserver_preload(["xling.pretrain.run", "xling.finetune.fine_tune"])
        self.log = log
        self.process = context.Process(target=in_child, args=(module, arguments, environment, log, prepare))
        self.process.start()

    def wait(self):
        """Return the exit code; a signal's number is negative."""
        self.process.join(120)
        assert self.process.exitcode is not None, "still running after two minutes"
        return self.process.exitcode

    @property
    def said(self):
        return self.log.read_text()


STILL = {"shape__dropout": 0.0, "shape__attention_dropout": 0.0}


def separated(embeddings, layers=1):
    """Return what makes the toy run's embeddings, or the token vectors alone, and its first layers separate."""
    parts = {"separate": {"embeddings": embeddings, "layers": layers}, "softmax": "per-language"}
    return parts if embeddings else {}


def state_of(engine, owner):
    """Return a copy of all that training moves of an owner's parameters."""
    part = engine.optimiser.owned[owner]
    return [tensor.clone() for tensor in (part.weights, part.exp_avg, part.exp_avg_sq, part.step)]


def read(tmp_path, **changes):
    """Return the toy run with some values set."""
    path = tmp_path / "run.json"
    path.write_text(json.dumps(changed(**changes)))
    return read_run(path)


def make(toy, tmp_path, dtype=torch.float32, device="cpu", **changes):
    """Return the toy run with some values set, its engine and its batches."""
    run, sizes = read(tmp_path, **changes), {"en": SIZE, "fr": SIZE}
    encoder = Encoder(run.model_config(sizes, tmp_path / "run.json"), run.seed).to(device)
    return (
        run,
        Engine(encoder, run.pretrain, torch.device(device), dtype),
        Batches(run, {code: toy / code for code in sizes}, sizes, {}),
    )


def train(run, engine, batches, updates):
    """Do some updates and return the loss of each."""
    losses = []
    for update in updates:
        languages = batches.languages(update)
        engine.accumulate(
            [batches.batch(update, micro, language, engine.places) for micro, language in enumerate(languages)]
        )
        engine.step(update, engine.present(languages), learning_rate(update, run.pretrain))
        losses.append(engine.trail[update].item())
    return losses


def plain_loss(encoder, batch):
    """Return the loss by ordinary modules and a full softmax."""
    scores = encoder.logits(encoder(batch.tokens, batch.language)[-1], batch.language).flatten(0, 1)
    return functional.cross_entropy(scores[batch.picks], batch.targets)
