"""Two toy languages, tiny encoders, and tasks that can be learnt from them in seconds."""

import copy
import json
import os
import signal
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import torch
from tiny_models import write_vocab
from unit.pretrain.toy_runs import Child, changed

from xling.bpe.vocabulary import Vocabulary
from xling.finetune import trainer
from xling.finetune.settings import read_settings
from xling.finetune.tasks import Material, make_task, read_set
from xling.model.encoder import Encoder
from xling.model.files import load_encoder, save_encoder
from xling.pretrain.config import read_run

NOUNS = ("table", "cat", "horse", "river")
VERBS = ("sees", "eats", "likes")
NAMES = ("paris", "tom", "acme")
TYPES = {"paris": "LOC", "tom": "PER", "acme": "ORG"}
RENAMED = {"the": "le", "cat": "chat", "horse": "cheval", "river": "fleuve", "sees": "voit", "eats": "mange"}
RENAMED |= {"likes": "aime", "not": "pas"}

RUN = changed(shape__activation="relu", shape__norm="pre", pretrain__sequences="lines", pretrain__length=24)
SETTINGS: dict[str, Any] = {
    "epochs": 3, "examples_per_epoch": None, "schedule": "linear", "warmup_share": 0.1,
    "grid": {"batch": [8], "encoder_lr": [1e-3, 1e-2], "head_lr": None}, "best": 1,
}  # fmt: skip
KINDS = [("cpu", torch.float32), ("cuda", torch.bfloat16), ("cuda", torch.float16)]  # devices and their 16-bit types
BIAFFINE = {"arc": 48, "label": 24, "dropout": 0.1, "input_dropout": 0.1}


def section(task, **changes):
    """Return a task's section of the configuration."""
    return copy.deepcopy(SETTINGS) | changes | ({"biaffine": BIAFFINE} if task == "parsing" else {})


def in_language(words, language):
    return [RENAMED.get(word, word) for word in words] if language == "fr" else words


def sentence(rng):
    """Return words, tags, heads, relations and parts of speech: [the noun | name] verb [the noun | name] ."""
    rows: list[tuple[str, str, int, str, str]] = []
    verb_place = 2 + (first_is_noun := bool(rng.random() < 0.5))
    for role, is_noun in (("nsubj", first_is_noun), ("obj", bool(rng.random() < 0.5))):
        if role == "obj":
            rows.append((VERBS[rng.integers(len(VERBS))], "O", 0, "root", "VERB"))
        if is_noun:
            noun = NOUNS[rng.integers(len(NOUNS))]
            rows += [("the", "O", len(rows) + 2, "det", "DET"), (noun, "O", verb_place, role, "NOUN")]
        else:
            name = NAMES[rng.integers(len(NAMES))]
            rows.append((name, f"B-{TYPES[name]}", verb_place, role, "PROPN"))
    rows.append((".", "O", verb_place, "punct", "PUNCT"))
    return tuple(map(list, zip(*rows, strict=True)))


def record(task, language, rng):
    words, tags, heads, relations, parts = sentence(rng)
    words = in_language(words, language)
    if task == "xnli":
        label = ("entailment", "neutral", "contradiction")[rng.integers(3)]
        other = in_language(sentence(rng)[0], language)
        negated = in_language(["not"], language) + words
        hypothesis = {"entailment": words, "neutral": other, "contradiction": negated}[label]
        return {"premise": words, "hypothesis": hypothesis, "label": label}
    if task == "ner":
        return {"words": words, "tags": tags}
    return {"words": words, "heads": heads, "deprels": relations, "upos": parts}


def write_set(path, task, language, count, seed):
    rng = np.random.default_rng(seed)
    path.write_text("".join(json.dumps(record(task, language, rng)) + "\n" for _ in range(count)))
    return path


def all_words(language):
    return in_language(["the", "not", ".", *NOUNS, *VERBS, *NAMES], language)


def write_model(folder, embeddings=False, layers=0):
    """Write the vocabulary and the encoder of a toy pair, with random weights; return their folders."""
    kind, softmax = ("separate", "per-language") if embeddings else ("union", "shared")
    parts = {"separate": {"embeddings": embeddings, "layers": layers}, "softmax": softmax}
    return write_described(folder, kind, RUN | parts)


def write_described(folder, kind, described, seed=1):
    """Write the toy languages' vocabulary of a kind and the encoder that a run.json describes; return their folders."""
    vocab = write_vocab(folder, kind, {code: all_words(code) * 10 for code in described["languages"]}, 25)
    path = folder / "encoder" / "run.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(described))
    vocabulary, parsed = Vocabulary.load(vocab), read_run(path)
    sizes = {code: vocabulary.size_of(code) for code in parsed.languages}
    save_encoder(Encoder(parsed.model_config(sizes, path), seed), folder / "encoder")
    return vocab, folder / "encoder"


def command(folder, tasks, model, out, size=48, **changes):
    """Return the flags of a process that does some tasks on toy data, which is written once per folder and task."""
    encoder = changes.pop("encoder", model[1])
    plan = {}
    for task in tasks.split():
        files = {}
        for name, language, items, seed in (("train", "en", size, 1), ("dev", "en", 24, 2), ("test", "fr", 24, 3)):
            files[name] = folder / f"{task}.{name}.jsonl"
            if not files[name].is_file():
                write_set(files[name], task, language, items, seed)
        data = {"train": str(files["train"]), "dev": str(files["dev"]), "test": {"fr": str(files["test"])}}
        plan[task] = {"task": task, **data, "settings": section(task), "config": "abc"} | changes
    (folder / f"{out}.plan").write_text(json.dumps(plan))
    given = [f"--encoder={encoder}", f"--vocab={model[0]}", f"--plan={folder / out}.plan", "--seed=7", "--device=cpu"]
    return [*given, f"--work-root={folder / out}.work", f"--out-dir={folder / out}"]


def prepare(folder, model, task="pos"):
    """Return an encoder, the material of a task in English, and its examples by language."""
    settings = read_settings(section(task))
    made, vocabulary = make_task(task, settings.biaffine), Vocabulary.load(model[0])
    sets = {
        code: read_set(write_set(folder / f"{code}.jsonl", task, code, 30, 5), made, vocabulary, code, 24)
        for code in ("en", "fr")
    }
    return load_encoder(model[1]), Material(made, settings, 0, 24, sets["en"], sets["en"], 3), sets


def save_and_die(after):
    """Let this process save every epoch, and die for good once so many in all were saved, if asked to."""
    trainer.SAVE_SECONDS = 0
    save, saved = trainer.save, count(1)

    def deadly(*given):
        save(*given)
        if next(saved) == after:
            os.kill(os.getpid(), signal.SIGKILL)

    trainer.save = deadly


def run_killed(arguments, deaths, out, log, module):
    """Run a command that is killed and started again, and check that it writes nothing before the end; return its last log."""
    for after in (*deaths, None):
        child = Child(module, arguments, log, partial(save_and_die, after))
        assert child.wait() == (0 if after is None else -signal.SIGKILL)
        assert out.exists() == (after is None)
    return child.said
