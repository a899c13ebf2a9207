"""What the documentation shows: its blocks of code, its commands, and how a test runs one without touching results."""

import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from dag import lay_out, preset, run_module
from embedded import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:\A|\n\n)((?: {4}\S.*\n)+)")
COMMENT = re.compile(r" {2,}.*$| # .*$")  # what stands behind a command on its line
EXTEND = ROOT / "docs" / "extend.md"
WATCH = "workflow_scripts.watch"
GENERATED = (
    ".venv/bin/snakemake table1 --configfile presets/top.yaml presets/greek.yaml"  # the small study of that page
)


class Block(NamedTuple):
    """A block of code: the page it stands on, its language (empty for commands) and its text."""

    page: str
    language: str
    text: str


def blocks(page):
    """Yield the blocks of a page, fenced and indented."""
    text, name = page.read_text(encoding="utf-8"), str(page.relative_to(ROOT))
    for language, body in FENCE.findall(text):
        yield Block(name, language, body)
    for body in INDENTED.findall(FENCE.sub("", text)):
        yield Block(name, "", body)


def commands(page):
    """Return the command lines of a page, without what is said beside them."""
    lines = [line for block in blocks(page) if block.language == "" for line in block.text.splitlines()]
    return [COMMENT.sub("", line.strip()) for line in lines if line.strip()]


def expanded(command):
    """Return a command with the Makefile's target replaced by what it runs, as `make -n` tells it."""
    variables, words = split_variables(command)
    if words[0] != "make":
        return command
    told = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = told.replace("\\\n", " ").splitlines()
    calls = [line for mark in ("bin/snakemake", WATCH, "workflow_scripts.plan") for line in lines if mark in line]
    return " ".join([*(f"{key}={value}" for key, value in variables.items()), calls[0]])


def split_variables(command):
    """Return the environment variables that a command line sets, and the words after them."""
    words = shlex.split(command)
    count = next(i for i, word in enumerate(words) if not re.fullmatch(r"[A-Z_]+=.*", word))
    return dict(word.split("=", 1) for word in words[:count]), words[count:]


def run(command, folder, *extra, own_data=True):
    """Run a command of the documentation with this interpreter, its results in a folder; return what it said."""
    variables, words = split_variables(expanded(command))
    start = words.index("--configfile") if "--configfile" in words else len(words)
    files = list(takewhile(lambda word: not word.startswith("-"), words[start + 1 :]))
    program = [word for word in words[:start] if word not in (".venv/bin/python", "-m")]
    program[0] = program[0].removeprefix(".venv/bin/")
    presets = ["--configfile", *files, preset(folder, own_data)]
    flags = [*(["--nolock"] if WATCH in program or "snakemake" in program else []), *extra]
    line = [*program, *presets, "--", *flags] if WATCH in program else [*program, *flags, *presets]
    done = run_module(*line, timeout=600, **{name: value for name, value in variables.items() if value != "…"})
    assert done.returncode == 0, f"{command}\n{done.stdout[-5000:]}"
    return done.stdout


def laid_out(command, folder, own_data=True):
    """Return the jobs of a Snakemake command of the documentation: Snakemake reads its flags, results go to a folder."""
    from snakemake.cli import parse_args

    variables, (_, *words) = split_variables(command)
    shown = {name: value for name, value in variables.items() if value != "…"}
    with chdir(ROOT), patch.dict(os.environ, shown):
        _, args = parse_args(words)
        targets = [str(folder / target) if target.startswith("results/") else target for target in args.targets]
        with patch.object(sys, "argv", ["snakemake", *targets]):  # where the Snakefile looks for wrong targets
            return lay_out(targets=targets, files=[*map(Path, args.configfile or []), Path(preset(folder, own_data))])


def trained(jobs):
    """Return the models that jobs train."""
    return {Path(path).parent.name for job in jobs if job.rule == "pretrain" for path in job.outputs}


class Reader:
    """Somebody who has written the files of docs/extend.md, in a folder of their own, and runs its commands on them."""

    def __init__(self, folder):
        texts = [block.text for block in blocks(EXTEND) if block.language == "yaml"]
        self.folder = folder
        self.files = {text.splitlines()[0].removeprefix("# "): text for text in texts}
        (folder / "presets").mkdir()
        for name in self.files:
            self.write(name)

    def write(self, name, old="", new=""):
        """Write a file of the page, with one text in it replaced by another."""
        (self.folder / name).write_text(self.files[name].replace(old, new), encoding="utf-8")

    def lay_out(self, command):
        """Return the jobs of a command of the page."""
        return laid_out(self.own(command), self.folder)

    def run(self, command, *extra):
        """Run a command of the page and return what it says."""
        return run(self.own(command), self.folder, *extra)

    def own(self, command):
        """Return a command of the page with our copies of its files."""
        for name in self.files:
            command = command.replace(name, str(self.folder / name))
        return command


def texts_and_marks(svg):
    """Return what a drawing says and all coordinates of its lines and marks; the bytes themselves differ with the processor's rounding."""
    text = svg.read_text(encoding="utf-8")
    drawn = re.findall(r"-?\d+\.?\d*", " ".join(re.findall(r' (?:d|x|y|transform)="([^"]+)"', text)))
    return re.findall(r"<!-- (.+?) -->", text), [float(number) for number in drawn]
