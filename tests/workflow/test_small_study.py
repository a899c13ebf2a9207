"""One small study, run: that of docs/extend.md, then with more settings and models to it, then what edits make again."""

import importlib
import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from dag import fill, job_counts, nothing_to_do, run_module, snakemake
from doc_blocks import GENERATED, Reader
from embedded import ROOT

from workflow_scripts.config import read_config
from workflow_scripts.plan.jobs import open_dag
from xling.core.errors import EXIT_NO_SPACE
from xling.core.io import sha256_of

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Return a reader of the page who has run its study of a generated language."""
    place = Reader(tmp_path_factory.mktemp("small"))
    place.run(GENERATED, "--cores", "2")
    return place


@pytest.fixture(scope="module")
def finished(reader):
    """Return the files of a study on top of it, of which everything is made."""
    more = {"study": {"settings": ["default", "sep-emb-l1-7", "extra-anchors"], "languages": ["el"]}}
    (reader.folder / "more.yaml").write_text(yaml.safe_dump(more), encoding="utf-8")
    presets = reader.own(GENERATED).split("--configfile ")[1].split()
    files = [*presets, str(reader.folder / "preset.yaml"), str(reader.folder / "more.yaml")]
    done = snakemake("--cores", "2", "all", "--configfile", *files, timeout=600)
    assert done.returncode == 0, done.stdout[-5000:]
    return files


def edited(files, edit):
    """Return the flags that choose a study with an edit laid over it."""
    path = Path(files[-1]).with_name("edit.yaml")
    path.write_text(yaml.safe_dump(edit), encoding="utf-8")
    return ["--configfile", *files, str(path)]


def test_a_generated_language_goes_from_raw_files_to_the_table(reader):
    head, _, *rows = (reader.folder / "results/greek/tables/table1.md").read_text(encoding="utf-8").splitlines()
    columns = [name.strip() for name in head.split("|")]
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    (row,) = [row for row in cells if len(row) == len(columns) and row[1] == "Sep Emb + L1-7"]
    assert 0 <= float(row[columns.index("NER (F1) el")]) <= 100
    assert "NER (F1) fr" not in columns  # the table is of the study at hand

    greek = "presets/greek.yaml"
    reader.write(greek, "pairs: [en-el]", "pairs: [en-el, en-fr]")
    said = reader.run(GENERATED, "-n")
    reader.write(greek)
    assert job_counts(said)["pretrain"] == 2  # of the new pair: what was there is not trained again
    assert "models/en-fr.sep-emb-l1-7.s1/run.json" in said


def test_all_of_it_is_made_and_nothing_is_left_whatever_module_is_touched(finished, reader):
    results = reader.folder / "results/greek"
    assert [name for name in ("report.html", "claims.json", "paper/figure3.svg", "paper/table1.csv")
            if not (results / name).is_file()] == []  # fmt: skip
    (ROOT / "xling/bpe/encode_text.py").touch()
    assert nothing_to_do(snakemake("-n", "all", "--configfile", *finished))


def test_a_plan_leaves_out_what_is_done_and_sets_it_against_what_it_used(finished, reader):
    target = str(reader.folder / "results/greek/text/el.wiki.txt.zst")
    after = run_module("workflow_scripts.plan", target, "--configfile", *finished)
    assert after.returncode == 0, after.stdout
    assert "Nothing is left to do." in after.stdout
    used = after.stdout.split("planned against used")[1]
    assert re.search(r"^extract_text +1 +- +- +[0-9.]+ s +[0-9.]+ s$", used, flags=re.MULTILINE)
    whole = run_module("workflow_scripts.plan", *edited(finished, {"pretrain": {"lr": 0.001}}))
    assert "not estimated" not in whole.stdout, "a rule of the embedded study"
    again = dict(re.findall(r"^(pretrain|fine_tune) +(\d) +- +[0-9.]+", whole.stdout, flags=re.MULTILINE))
    assert again == {"pretrain": "4", "fine_tune": "3"}  # untrained encoders learn at no rate


# Files that say when and how fast, the last one Snakemake's.
TIMES = {"provenance.json", "metrics.jsonl", "train.log", ".snakemake_timestamp"}
BASH = ["bash", "-euo", "pipefail", "-c"]  # as Snakemake starts it
STUB = """#!/bin/sh
printf '%s\\0' "$@" >"$ARGUMENTS"
"""


@contextmanager
def on_a_small_disk(folder, disk):
    """Let all that is written into a folder go to a small disk instead; yield a file that can fill it."""
    overlay = f"lowerdir={folder},upperdir={disk / 'new'},workdir={disk / 'work'}"
    (disk / "new").mkdir()
    (disk / "work").mkdir()
    command = ["mount", "-t", "overlay", "overlay", "-o", overlay, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no overlay of a small disk: {done.stderr.strip()}")
    try:
        yield disk / "filler"
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Stage:
    """A job of Snakemake's that runs in this process, where everything is imported already."""

    def __init__(self, job, folder, call):
        self.rule, self.shell, self.call = job.rule.name, job.shellcmd, call
        self.outputs = [Path(path) for path in job.output]
        for path in [*self.outputs, *map(Path, job.log)]:
            path.parent.mkdir(parents=True, exist_ok=True)
        self.plan = "<<'END'" in self.shell
        (folder / "python").write_text(STUB)
        (folder / "python").chmod(0o755)
        if not self.plan:  # the last command's arguments, as the shell hands them over
            variables = {"ARGUMENTS": str(folder / "arguments"), "PATH": f"{folder}:{os.environ['PATH']}"}
            subprocess.run([*BASH, self.shell], env=os.environ | variables, check=True)
            words = (folder / "arguments").read_text().split("\0")[1:-1]
            if words[0] in ("workflow_scripts.launch", "workflow_scripts.gpu_slots"):  # find GPUs for what they start
                words = words[next(i for i, word in enumerate(words) if word.startswith("xling.")) :]
            module = importlib.import_module(words[0])
            self.main = getattr(module, "main", None) or importlib.import_module(f"{words[0]}.__main__").main
            self.arguments = words[1:]

    def run(self):
        """Run it as Snakemake does, without files of an earlier run; return its exit code and its line."""
        self.clear()
        if not self.plan:
            done = self.call(self.main, *self.arguments)
            return done.code, done.error
        ran = subprocess.run([*BASH, self.shell], capture_output=True, text=True, check=False)
        return ran.returncode, ran.stderr

    def clear(self):
        """Delete its files."""
        for path in self.outputs:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def files(self):
        """Return its files that are there."""
        inside = [below for path in self.outputs for below in path.rglob("*")]
        return sorted(path for path in [*self.outputs, *inside] if path.is_file())

    def made(self):
        """Return the hashes of its files, but for those that say when they were made."""
        return {path: sha256_of(path) for path in self.files() if path.name not in TIMES}


def test_a_full_disk_in_every_stage(finished, reader, mount_disk, tmp_path, call):
    analyses = {
        "own_vectors": {"epochs": 1, "min_count": 1},
        "contextual": {"layers": [1], "task_layers": 1, "epochs": 1},
    }
    known = read_config(*map(Path, finished))
    muse = Path(known["data"]["root"]) / "muse"
    shutil.copyfile(
        muse.parent / known["languages"]["el"]["muse"]["train"], muse / "frequent.txt"
    )  # test words are rare
    edit = {"study": {"languages": ["en", "el"]}, "languages": {"el": {"muse": {"test": "muse/frequent.txt"}}}}
    _, *files = edited(finished, edit | {"align": analyses})
    jobs, starved = [], set[str]()
    for paths, targets in (
        (finished, []),
        (files, ["record_words", "record_sentences", "record_cka", "record_contextual"]),
    ):
        dag = open_dag(read_config(ROOT / "config.yaml", *map(Path, paths)), targets)
        jobs += [job for level in dag.toposorted() for job in sorted(level, key=str) if job.shellcmd]
    with on_a_small_disk(reader.folder, mount_disk("48m")) as filler:
        for job in jobs:
            first, there = job.rule.name not in starved, all(Path(path).exists() for path in job.output)
            if there and not first:
                continue
            stage = Stage(job, tmp_path, call)
            if not there or stage.rule == "page":  # which says how long the stages took that ran again
                assert stage.run() == (0, ""), stage.rule
            if first:
                starve(stage, filler)
                starved.add(stage.rule)
    assert len(starved) > 40


def starve(stage, filler):
    """Let a stage run with room for half of its files, or for none if they take long, and then with enough of it."""
    known, size = stage.made(), sum(path.stat().st_size for path in stage.files())
    stage.clear()
    fill(filler, 0 if stage.rule in ("draw_training", "paper_figures") else size // 2)
    code, said = stage.run()
    filler.unlink()
    if stage.plan:  # the shell's own line is in the log, if that has room
        assert code, stage.rule
    else:
        line = "error: no space left on the disk"
        assert (code, said[: len(line)], said.count("\n")) == (EXIT_NO_SPACE, line, 1), f"{stage.rule}: {said}"
    assert stage.run() == (0, ""), stage.rule
    assert stage.made() == known, stage.rule
