"""Every kind of stored file: a flipped bit is noticed in one line that names the file, a full disk in one line too."""

import logging
import shutil
import subprocess
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from dag import fill, lay_out
from embedded import study
from matplotlib.figure import Figure
from tiny_models import made_up, write_model, write_vocab

from xling.align.states import States, write_states
from xling.bpe import train_bpe
from xling.bpe.build_vocabulary import write_vocabulary
from xling.bpe.streams import TokenStream, TokenStreamWriter, pack
from xling.bpe.vocabulary import Vocabulary, read_model
from xling.codeswitch import build_dictionary
from xling.core import io
from xling.core.errors import EXIT_NO_SPACE, run
from xling.core.lock import Lock
from xling.core.results import read_result
from xling.core.seeds import numpy_rng, python_rng
from xling.data.dictionary import read_tsv
from xling.data.parallel import read_aligned
from xling.finetune.tasks import make_task, read_set
from xling.model import checkpoint
from xling.model.files import load_encoder, save_encoder, weights_of
from xling.pretrain.record import Metrics
from xling.report.items import read_items, write_items
from xling.report.records import Cell, read_records, write_records
from xling.report.style import save_images
from xling.synthetic.formats.text import write_lines
from xling.tokenization import prepare_task
from xling.tokenization.prepare_parallel import write_sides
from xling.tokenization.tokeniser import tokeniser_from

PLAN = "demo/models/en-fr.default.s1/run.json"
FLIPS = 40  # in each kind of file
LINES = made_up("en", 60)
TEXTS = {"en": LINES, "fr": made_up("fr", 60)}
ARRAY = numpy_rng("stored files").standard_normal((64, 300)).astype(np.float32)  # does not compress
CELL = {"setting": "Default", "task": "ner", "language": "fr", "chance": 1.5}
CELLS = [Cell(**CELL, seed=seed, score=50.25 + seed) for seed in (1, 2, 3)]
HEX = [value.tobytes().hex() for value in ARRAY]
SCORE = {"config": "0123", "languages": {"fr": HEX}}
NER = ["en:a\tB-LOC", "en:b\tO", "en:c\tB-PER", ""] * 3


def write_streams(folder):
    with TokenStreamWriter(folder, 60_000, "en") as writer:
        writer.add("train", *pack([[ord(letter) for letter in line] for line in LINES]))


def read_streams(folder):
    stream = TokenStream(folder, "train")
    return stream.meta, stream.pieces.tobytes(), stream.starts.tobytes()


def read_vocabulary(folder):
    vocabulary = Vocabulary.load(folder)
    encoded = [vocabulary.encode_line(code, line) for code, lines in TEXTS.items() for line in lines]
    parts = [(vocabulary.ids(code).tolist(), vocabulary.pieces(code)) for code in TEXTS]
    about = vocabulary.kind, vocabulary.languages, vocabulary.size
    return about, parts, encoded, list(io.read_lines(folder / "pieces.txt"))


def read_weights(folder):
    encoder = load_encoder(folder)
    return encoder.config, {name: value.tolist() for name, value in weights_of(encoder).items()}


def write_checkpoints(folder):
    for update in (1, 2):
        parts = {name: {"w": torch.full((20,), float(update))} for name in ("weights", "optimiser")}
        checkpoint.save(folder, parts, {"update": update, "tokens": 77, "best_perplexity": 3.5})


def read_checkpoint(folder):
    found = checkpoint.newest(folder, ("tokens", "best_perplexity"))
    assert found is not None
    return found.meta, {name: found.tensors(name)["w"].tolist() for name in ("weights", "optimiser")}


def read_states(path):
    states = States(path)
    return states.meta, [states.read(layer).tolist() for layer in range(states.layers)]


class Kind(NamedTuple):
    """How files of a kind are written into a folder and read again, and their names there."""

    write: Callable[[Path], Any]
    read: Callable[[Path], Any]
    names: str


def one_file(name, write, read):
    return Kind(lambda folder: write(folder / name), lambda folder: read(folder / name), name)


def write_plan(folder):
    """Write a plan as its rule does: the description of a model of the embedded study."""
    plan = folder / PLAN
    (command,) = lay_out(study(study={"results": str(folder)}), [str(plan)], read=lambda job: job.shellcmd)
    plan.parent.mkdir(parents=True)
    (folder / "demo/logs/write_run").mkdir(parents=True)
    subprocess.run(["bash", "-euo", "pipefail", "-c", command], check=True)


@pytest.fixture(scope="module")
def vocab(tmp_path_factory):
    return write_vocab(tmp_path_factory.mktemp("vocabulary"), "prefixed", TEXTS, merges=20)


@pytest.fixture
def kinds(tmp_path, vocab):
    """Return every kind of file that a later job reads and a function writes."""
    models, plain = {code: vocab / f"{code}.model" for code in TEXTS}, tokeniser_from(None)
    encoder = write_model(tmp_path / "encoder", vocab, "no-anchors")
    items = {("ner", "fr", "Default", 1): ARRAY.view(np.uint8)[None]}
    return {
        "text": one_file("a.txt.zst", lambda path: write_lines(path, HEX), lambda path: list(io.read_lines(path))),
        "streams": Kind(write_streams, read_streams, "train.bin train.idx meta.json"),
        "vocabulary": Kind(
            partial(write_vocabulary, "prefixed", models), read_vocabulary, "vocab.json en.ids.npy fr.model pieces.txt"
        ),
        "weights": Kind(partial(save_encoder, encoder), read_weights, "model.safetensors model.json"),
        "checkpoint": Kind(
            write_checkpoints, read_checkpoint,
            "step-0000002/weights.safetensors step-0000002/optimiser.safetensors step-0000002/meta.json",
        ),
        "parallel": Kind(
            lambda at: write_sides(at, zip(*TEXTS.values(), strict=True), dict.fromkeys(TEXTS, plain)),
            lambda at: list(read_aligned([at / f"{code}.txt" for code in TEXTS])),
            "en.txt fr.txt",
        ),
        "states": one_file("a.safetensors", lambda path: write_states(path, [ARRAY, 2 * ARRAY], {}, HEX), read_states),
        "json": one_file("a.json", lambda path: io.write_json(path, SCORE), lambda path: read_result(path, "0123")),
        "records": one_file(
            "a.csv", lambda path: write_records(path, Cell, CELLS), lambda path: read_records(path, Cell)
        ),
        "counts": one_file(
            "a.npz", lambda path: write_items(path, items), lambda path: read_items(path, "ner", "fr")["Default", 1].tolist()
        ),
    }  # fmt: skip


@pytest.fixture
def made_by_commands(tmp_path, vocab, call):
    """Return further kinds, which only a command writes."""
    write_lines(tmp_path / "lines", LINES)
    write_lines(tmp_path / "raw", NER)
    (tmp_path / "raw.tsv").write_text("cat\tchat\ndog\tchien\t0.5\n")
    vocabulary, task = Vocabulary.load(vocab), make_task("ner", None)

    def write(module, raw, flags, path):
        assert call(module.main, *flags.split(), "--input", tmp_path / raw, "--out", path).code == 0

    return {
        "BPE": one_file(
            "a.model", partial(write, train_bpe, "lines", "--merges 10 --seed 1"),
            lambda path: read_model(path).serialized_model_proto(),
        ),
        "task": one_file(
            "a.jsonl", partial(write, prepare_task, "raw", "ner --format wikiann --language en"),
            lambda path: repr(read_set(path, task, vocabulary, "en", 32)),
        ),
        "dictionary": one_file(
            "a.tsv", partial(write, build_dictionary, "raw.tsv", "--format tsv"), lambda path: list(read_tsv(path))
        ),
        "plan": Kind(write_plan, lambda folder: io.read_json(folder / PLAN), PLAN),
    }  # fmt: skip


def flipped(content, rng):
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :]


def damages(path, rng):
    """Yield what a file and its seal may hold after a flip, and whether it proves the damage; None is no seal at all."""
    seal, damaged = io.seal_of(path), flipped(path.read_bytes(), rng)
    yield {path: damaged}, True
    if seal.exists():
        yield {path: damaged, seal: None}, False  # as an older version wrote it
        yield {seal: flipped(seal.read_bytes(), rng)}, True


def said(read, known, caplog, capfd):
    """Return the line that a command would end with or warns with; None where it reads what is known, else `changed`."""
    io._sha256_once.cache_clear()  # as in a new process
    caplog.clear()
    capfd.readouterr()
    values: list[Any] = []
    try:
        run(lambda: values.append(read()))
    except SystemExit:
        return str(capfd.readouterr().err.removesuffix("\n"))
    except Exception:
        return traceback.format_exc(limit=-2)
    return str(caplog.records[0].getMessage()) if caplog.records else None if values == [known] else "changed"


def test_every_flip_is_noticed(kinds, made_by_commands, tmp_path, caplog, capfd, monkeypatch):
    monkeypatch.setattr(logging.getLogger("xling"), "propagate", True)
    caplog.set_level(logging.WARNING, "xling")
    rng, missed, flips, without_effect = python_rng("flips"), [], 0, 0
    for kind, (write, read_from, names) in (kinds | made_by_commands).items():
        folder = tmp_path / kind
        write(folder)
        read, known = partial(read_from, folder), read_from(folder)
        for number in range(FLIPS):
            path = folder / names.split()[number % len(names.split())]
            for contents, proved in damages(path, rng):
                usual = {file: file.read_bytes() for file in contents}
                for file, content in contents.items():
                    file.unlink() if content is None else file.write_bytes(content)
                line = said(read, known, caplog, capfd)
                without_effect += path in contents and proved and line is None
                if "\n" in (line or "") or (proved and line and path.name not in line):
                    missed.append(f"{kind}: {[file.name for file in contents]}: {line}")
                for file, content in usual.items():
                    file.write_bytes(content)
        flips += FLIPS
        assert said(read, known, caplog, capfd) is None, kind
    assert missed == []
    assert flips >= 400
    assert without_effect < flips / 50


def test_a_full_disk_while_any_kind_of_file_is_written(mount_disk, kinds, capfd):
    disk = mount_disk("2m")
    out, filler, figure = disk / "out", disk / "filler", Figure((1, 1))
    figure.subplots().plot(ARRAY[0])
    writers: dict[str, Callable[[], Any]] = {name: partial(kind.write, out) for name, kind in kinds.items()} | {
        "figure": lambda: save_images(figure, out, "figure", ("png", "svg")),
        "metrics": lambda: [out.mkdir(exist_ok=True), Metrics(out / "metrics.jsonl").add(kind="train", update=1)],
        "lock": lambda: Lock(out).__enter__().__exit__(),
    }
    for name, write in writers.items():
        for free in (0, 1, 2, 4, 8):  # pages: it ends at another place each time
            fill(filler, free * 4096)
            try:
                run(write)
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
            said = capfd.readouterr().err
            half = [path.name for path in disk.rglob(".*") if path.suffix != ".sha256"]
            half += [path.name for path in out.glob("*") if name in ("text", "json", "states", "counts", "lock")]
            if free == 0 or code:
                assert (code, said.count("\n"), half) == (EXIT_NO_SPACE, 1, []), f"{name}, {free} free: {said}"
                assert said.startswith("error: no space left on the disk"), name
            filler.unlink()
            shutil.rmtree(out, ignore_errors=True)
        run(write)
        shutil.rmtree(out)
