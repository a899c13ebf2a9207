"""Every kind of stored file: a flipped bit is noticed in one line that names the file, a full disk in one line too."""

import logging
import os
import shutil
import subprocess
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from dag import lay_out
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
from xling.tokenization import prepare_task
from xling.tokenization.prepare_parallel import write_sides
from xling.tokenization.tokeniser import tokeniser_from

FLIPS = 32  # in each kind of file
LINES = made_up("en", 60)
TEXTS = {"en": LINES, "fr": made_up("fr", 60)}
ITEMS = {("ner", "fr", "Default", 1): np.arange(60).reshape(2, 10, 3)}
CELLS = [
    Cell(setting="Default", task="ner", language="fr", seed=seed, score=50.25 + seed, chance=1.5) for seed in (1, 2, 3)
]
SCORE = {"config": "0123456789abcdef", "languages": {"fr": {"score": 51.25, "interval": [50.5, 52.0]}}}
NER = [
    f"en:{word}\t{'B-LOC' if number % 3 else 'O'}\n" + "\n" * (number % 4 == 3)
    for number, word in enumerate("abcdefghijkl")
]


def write_lines(path: Path, lines: list[str]) -> None:
    with io.write_text(path) as handle:
        handle.writelines(f"{line}\n" for line in lines)


def write_streams(folder: Path) -> None:
    with TokenStreamWriter(folder, 60_000, "en") as writer:
        writer.add("train", *pack([[ord(letter) for letter in line] for line in LINES]))


def read_streams(folder: Path) -> Any:
    stream = TokenStream(folder, "train")
    return stream.meta, stream.pieces.tobytes(), stream.starts.tobytes()


def read_vocabulary(folder: Path) -> Any:
    vocabulary = Vocabulary.load(folder)
    ids = [vocabulary.ids(code).tolist() for code in TEXTS]
    pieces = [vocabulary.pieces(code) for code in TEXTS]
    encoded = [vocabulary.encode_line(code, line) for code, lines in TEXTS.items() for line in lines]
    names = list(io.read_lines(folder / "pieces.txt"))
    return vocabulary.kind, vocabulary.languages, vocabulary.size, ids, pieces, encoded, names


def read_weights(folder: Path) -> Any:
    encoder = load_encoder(folder)
    return astuple(encoder.config), {name: value.numpy().tobytes() for name, value in weights_of(encoder).items()}


def write_checkpoints(folder: Path) -> None:
    for update in (1, 2):
        parts = {name: {"w": torch.full((20,), float(update))} for name in ("weights", "optimiser")}
        checkpoint.save(folder, parts, {"update": update, "tokens": 77, "best_perplexity": 3.5})


def read_checkpoint(folder: Path) -> Any:
    found = checkpoint.newest(folder, ("tokens", "best_perplexity"))
    assert found is not None
    return found.meta, {name: found.tensors(name)["w"].tolist() for name in ("weights", "optimiser")}


def read_states(path: Path) -> Any:
    states = States(path)
    return states.meta, [states.read(layer).tobytes() for layer in range(states.layers)]


def read_task(path: Path, vocabulary: Vocabulary) -> Any:
    examples = read_set(path, make_task("ner", None), vocabulary, "en", 32)
    return [[part.tolist() for part in (*one.windows, one.rows, one.places, one.labels)] for one in examples]


def write_plan(folder: Path) -> Path:
    """Write a plan as its rule does: the description of a model of the embedded study."""
    plan = folder / "demo/models/en-fr.default.s1/run.json"
    (command,) = lay_out(study(study={"results": str(folder)}), [str(plan)], read=lambda job: job.shellcmd)
    plan.parent.mkdir(parents=True)
    (folder / "demo/logs/write_run").mkdir(parents=True)
    subprocess.run(["bash", "-euo", "pipefail", "-c", command], check=True)
    return plan


@pytest.fixture(scope="module")
def vocab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_vocab(tmp_path_factory.mktemp("vocabulary"), "prefixed", TEXTS, merges=20)


@pytest.fixture
def kinds(tmp_path: Path, vocab: Path, call: Callable[..., Any]) -> dict[str, tuple[Callable[[], Any], list[str]]]:
    """Return of each kind of file how it is read, and which files below `tmp_path` there are of it, once written."""
    at = tmp_path.joinpath
    states = [np.arange(12, dtype=np.float32).reshape(4, 3) + layer for layer in range(3)]
    commands = {
        train_bpe: ["--input", at("text.txt.zst"), "--merges", 10, "--seed", 1, "--out", at("en.model")],
        prepare_task: [
            "ner",
            "--format",
            "wikiann",
            "--language",
            "en",
            "--input",
            at("raw"),
            "--out",
            at("ner.jsonl"),
        ],
        build_dictionary: ["--format", "tsv", "--input", at("raw.tsv"), "--out", at("dictionary.tsv")],
    }
    write_lines(at("text.txt.zst"), LINES)
    at("raw").write_text("".join(NER) + "\n")
    at("raw.tsv").write_text("cat\tchat\ndog\tchien\t0.5\n")
    for module, arguments in commands.items():
        assert call(module.main, *arguments).code == 0
    write_streams(at("streams"))
    written = write_vocab(at("vocab"), "prefixed", TEXTS, merges=20)
    write_model(at("model"), vocab, "no-anchors")
    write_checkpoints(at("checkpoints"))
    write_sides(at("parallel"), zip(*TEXTS.values(), strict=True), dict.fromkeys(TEXTS, tokeniser_from(None)))
    write_states(at("states.safetensors"), states, {"model": "en"}, items=list("abcd"))
    io.write_json(at("score.json"), SCORE)
    write_records(at("figure3.csv"), Cell, CELLS)
    write_items(at("items.npz"), ITEMS)
    vocabulary, plan = Vocabulary.load(vocab), write_plan(tmp_path)
    return {
        "text": (lambda: list(io.read_lines(at("text.txt.zst"))), ["text.txt.zst"]),
        "stream": (lambda: read_streams(at("streams")), ["streams/train.bin", "streams/train.idx"]),
        "description of streams": (lambda: read_streams(at("streams")), ["streams/meta.json"]),
        "vocabulary": (
            lambda: read_vocabulary(written),
            [f"vocab/prefixed/{name}" for name in ("vocab.json", "en.ids.npy", "fr.model", "pieces.txt")],
        ),
        "BPE model": (lambda: read_model(at("en.model")).serialized_model_proto(), ["en.model"]),
        "weights": (lambda: read_weights(at("model")), ["model/model.safetensors", "model/model.json"]),
        "checkpoint": (
            lambda: read_checkpoint(at("checkpoints")),
            [f"checkpoints/step-0000002/{name}.safetensors" for name in ("weights", "optimiser")],
        ),
        "description of a checkpoint": (
            lambda: read_checkpoint(at("checkpoints")), ["checkpoints/step-0000002/meta.json"]
        ),
        "task data": (lambda: read_task(at("ner.jsonl"), vocabulary), ["ner.jsonl"]),
        "parallel text": (
            lambda: list(read_aligned([at(f"parallel/{code}.txt") for code in TEXTS])),
            ["parallel/en.txt", "parallel/fr.txt"],
        ),
        "dictionary": (lambda: list(read_tsv(at("dictionary.tsv"))), ["dictionary.tsv"]),
        "states": (lambda: read_states(at("states.safetensors")), ["states.safetensors"]),
        "plan": (lambda: io.read_json(plan), [str(plan.relative_to(tmp_path))]),
        "scores": (lambda: read_result(at("score.json"), SCORE["config"]), ["score.json"]),  # type: ignore[arg-type]
        "records": (lambda: read_records(at("figure3.csv"), Cell), ["figure3.csv"]),
        "counts": (lambda: repr(read_items(at("items.npz"), "ner", "fr")), ["items.npz"]),
    }  # fmt: skip


def flipped(content: bytes, rng: Any) -> bytes:
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :]


def said(read: Callable[[], Any], known: Any, caplog: Any, capfd: Any) -> str | None:
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


def test_every_flip_is_noticed(
    kinds: dict[str, tuple[Callable[[], Any], list[str]]],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging.getLogger("xling"), "propagate", True)
    caplog.set_level(logging.WARNING, "xling")
    rng, missed, flips, without_effect = python_rng("flips"), [], 0, 0
    for kind, (read, names) in kinds.items():
        known = read()
        for number in range(FLIPS):
            path = tmp_path / names[number % len(names)]
            seal = io.seal_of(path)
            content, sealed = path.read_bytes(), seal.read_bytes() if seal.exists() else None
            damaged = flipped(content, rng)
            for case in ("file", "file without a seal", "seal"):  # an older version wrote no seals
                if case == "seal" and sealed is not None:
                    seal.write_bytes(flipped(sealed, rng))
                else:
                    path.write_bytes(damaged)
                    if case == "file without a seal":
                        seal.unlink(missing_ok=True)
                line = said(read, known, caplog, capfd)
                flips, without_effect = flips + (case == "file"), without_effect + (case == "file" and line is None)
                proved = case != "file without a seal" or sealed is None
                if "\n" in (line or "") or (proved and line and path.name not in line):
                    missed.append(f"{kind}, {case}: {path.name}: {line}")
                path.write_bytes(content)
                if sealed is not None:
                    seal.write_bytes(sealed)
        assert said(read, known, caplog, capfd) is None, kind
    print(f"{flips} flips, {without_effect} without effect")
    assert missed == []
    assert flips >= 400
    assert without_effect < flips / 50


def test_a_full_disk_while_any_kind_of_file_is_written(
    mount_disk: Callable[[str], Path], tmp_path: Path, vocab: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    disk, models = mount_disk("2m"), {code: vocab / f"{code}.model" for code in TEXTS}
    out, filler, encoder = disk / "out", disk / "filler", write_model(tmp_path / "model", vocab, "no-anchors")
    array = numpy_rng("full disk").standard_normal((64, 300)).astype(np.float32)  # does not compress
    lines = [value.tobytes().hex() for value in array]
    figure = Figure()
    figure.subplots().plot(array[0])
    writers: dict[str, Callable[[], Any]] = {
        "text": lambda: write_lines(out / "text.txt.zst", lines),
        "json": lambda: io.write_json(out / "score.json", lines),
        "streams": lambda: write_streams(out),
        "vocabulary": lambda: write_vocabulary("prefixed", models, out),
        "weights": lambda: save_encoder(encoder, out),
        "checkpoint": lambda: write_checkpoints(out),
        "states": lambda: write_states(out / "states.safetensors", [array], {}),
        "parallel": lambda: write_sides(out, zip(lines, strict=True), {"en": tokeniser_from(None)}),
        "records": lambda: write_records(out / "figure3.csv", Cell, CELLS),
        "counts": lambda: write_items(out / "items.npz", {("ner", "fr", "D", 1): array.view(np.uint8)[None]}),
        "figure": lambda: save_images(figure, out, "figure", ("png", "svg"), dpi=20),
        "metrics": lambda: [out.mkdir(exist_ok=True), Metrics(out / "metrics.jsonl").add(kind="train", update=1)],
        "lock": lambda: Lock(out).__enter__().__exit__(),
    }
    for name, write in writers.items():
        for free in (0, 1, 2, 4, 8):  # blocks: it ends at another place each time
            fill(filler, free)
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


def fill(filler: Path, free: int) -> None:
    """Fill a disk with a file, but for some blocks."""
    block = os.statvfs(filler.parent).f_bsize
    with suppress(OSError), filler.open("wb", buffering=0) as handle:
        while handle.write(bytes(block)):
            pass
    os.truncate(filler, filler.stat().st_size - free * block)
