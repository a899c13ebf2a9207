"""Refuse targets that a study does not have, in one line each: Snakemake would show a traceback or find no rule.

Snakemake does not tell a Snakefile what it was asked for, so the command line is looked at: only words that name a
figure, or a file of a model, a score or a job below the results, are taken for targets.
"""

import sys
from collections.abc import Container, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from workflow_scripts.config import nearest
from workflow_scripts.grid import MONO
from workflow_scripts.study import EXIT_BAD_CONFIG, Study

NEEDS = {
    "table1": "models of study.pairs",
    "figure3": "models of study.pairs",
    "figure4a": "monolingual models of the source and of a language with `muse`",
    "figure4b": "monolingual models of the source and of a language with `muse`",
    "figure5": "monolingual models of the source and of another language of study.pairs, and ner or parsing",
    "figure6": "monolingual models of the source and of another language, both with `tatoeba`",
    "figure7": "monolingual models of the source and of another language",
    "figure8": "monolingual models of the source and of another language of study.pairs, and ner or parsing",
}
OF_MODELS = ("models", "states", "transfer", "contextual")


@dataclass(frozen=True)
class Asked:
    """What a study has, and what is wrong with a target."""

    study: Study
    shown: Container[str]

    def problem(self, target: str) -> str | None:
        """Return what is wrong with a target, or nothing."""
        if target in NEEDS and target not in self.shown:
            return f"{target}: study {self._own!r} has nothing to show in it (needed: {NEEDS[target]})"
        place = Path(target)
        if not place.is_relative_to(self.study.results.parent):
            return None
        study, *parts = place.relative_to(self.study.results.parent).parts
        if len(parts) < 2 or parts[0] not in OF_MODELS:
            return None
        if study != self._own:
            return f"{target}: a file of study {study!r}, but this is {self._own!r} (name its preset: --configfile …)"
        if parts[0] == "contextual":
            return self._unknown(place.stem, self.study.contextual.jobs)
        return self._of_model(*parts) if len(parts) == 3 else None

    def _of_model(self, kind: str, name: str, file: str) -> str | None:
        if kind != "transfer":
            return self._unknown(name, self.study.models)
        task, tasks = Path(file).stem, self.study.transfer.tasks
        wrong = self._unknown(name, self.study.transfer.encoders)
        if wrong or task in ("run", *tasks):
            return wrong
        return f"{name}: {task} is no task of study {self._own!r} ({', '.join(tasks)})"

    def _unknown(self, name: str, known: Container[str]) -> str | None:
        return None if name in known else f"{name}: no such model in study {self._own!r} ({self._why(name)})"

    def _why(self, name: str) -> str:
        """Return why a study has no such model, as far as its name shows."""
        known = list(dict.fromkeys([*self.study.models, *self.study.transfer.floors, *self.study.contextual.jobs]))
        seeds = [other.rpartition(".s")[2] for other in known if other.rpartition(".s")[0] == name.rpartition(".s")[0]]
        if seeds:
            return f"its seeds: {', '.join(seeds)}"
        about, (languages, setting) = self.study.config["study"], [*name.split("."), ""][:2]
        if any(fnmatchcase(f"{languages}.{setting}", pattern) for pattern in about["skip"]):
            return "study.skip leaves it out"
        if setting == MONO:
            return f"study.languages: {', '.join(about['languages'])}"
        if languages not in about["pairs"]:
            return f"study.pairs: {', '.join(about['pairs'])}"
        return nearest(name, known)

    @property
    def _own(self) -> str:
        return str(self.study.config["study"]["name"])


def refuse_wrong_targets(asked: Asked, arguments: Iterable[str]) -> None:
    """Say what is wrong with the targets among a command line's words and leave, if anything is."""
    problems = [problem for word in arguments if (problem := asked.problem(word))]
    if problems:
        print("\n".join(f"target: {problem}" for problem in problems), file=sys.stderr, flush=True)
        sys.exit(EXIT_BAD_CONFIG)
