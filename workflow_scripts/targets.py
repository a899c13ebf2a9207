"""Refuse targets that a study does not have, with one line each; Snakemake would print a traceback or find no rule.

Snakemake does not tell a Snakefile its targets, so this module reads the command line. It treats a word as a target
only if it names a figure, a model, or a file of a model, score or job below the results. A word that is close to the
name of a rule counts as a typing error, but only where it cannot be the value of a flag: before all flags, and after
`--`.
"""

import shutil
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import pairwise, takewhile
from pathlib import Path

from workflow_scripts.config import nearest
from workflow_scripts.grid import matches_any
from workflow_scripts.study import EXIT_BAD_CONFIG, Study

MODELS = "monolingual models of the source and of"
NEEDS = {
    **dict.fromkeys(["table1", "figure3"], "models of study.pairs"),
    **dict.fromkeys(["figure4a", "figure4b"], f"{MODELS} a language with `muse`"),
    **dict.fromkeys(["figure5", "figure8"], f"{MODELS} another language of study.pairs, and ner or parsing"),
    "figure6": f"{MODELS} another language, both with `tatoeba`",
    "figure7": f"{MODELS} another language",
}
ALIKE = 0.75  # minimum similarity of a word to a rule's name for a typing error
DRY = {"-n", "--dry-run", "--dryrun"}
PLAIN = DRY | {"-p", "-k", "--keep-going", "-F", "--forceall"}  # flags without a value
OF_MODELS = ("models", "states", "transfer", "contextual")


def problem(study: Study, shown: Container[str], target: str) -> str | None:
    """Return the problem of a target, or None; `shown` are the tables and figures that the study has."""
    own, place, results = study.config["study"]["name"], Path(target), study.results.parent
    if target in NEEDS and target not in shown:
        return f"{target}: study {own!r} has nothing to show in it (needed: {NEEDS[target]})"
    if target in study.models:
        return f"{target}: a model, not a target (did you mean {study.results}/models/{target}/model.safetensors?)"
    other, *parts = place.relative_to(results).parts if place.is_relative_to(results) else [""]
    if other == own and parts[:1] == ["figures"] and place.stem in NEEDS:
        wrong = problem(study, shown, place.stem)
        return wrong and f"{target}: {wrong}"
    if len(parts) < 2 or parts[0] not in OF_MODELS:
        return None
    if other != own:
        return f"{target}: a file of study {other!r}, but this is {own!r} (name its preset: --configfile …)"
    kind, name, *rest = parts
    if kind != "contextual" and not rest:
        return None
    name = place.stem if kind == "contextual" else name
    of_kind: dict[str, Iterable[str]] = {"transfer": study.transfer.encoders, "contextual": study.contextual.jobs}
    known = of_kind.get(kind, study.models)
    if name not in known:
        skipped = matches_any(name.rpartition(".s")[0], study.config["study"]["skip"])
        why = "study.skip leaves it out" if skipped else nearest(name, known)
        return f"{name}: no such model in study {own!r} ({why})"
    if kind == "transfer" and place.stem not in ("run", *study.transfer.tasks):
        return f"{name}: {place.stem} is no task of study {own!r} ({', '.join(study.transfer.tasks)})"
    return None


def mistyped(arguments: Sequence[str], rules: Sequence[str]) -> Iterator[str]:
    """Yield a message for each word that must be a target and is close to the name of a rule."""
    last = len(arguments) - 1 - arguments[::-1].index("--") if "--" in arguments else len(arguments)
    first = takewhile(lambda word: word in PLAIN or not word.startswith("-"), arguments)
    for word in [*(word for word in first if word not in PLAIN), *arguments[last + 1 :]]:
        if Path(word).suffix in {".yaml", ".yml"} and Path(word).is_file():
            yield f"{word}: a configuration, not a target (write --configfile before it)"
        close = get_close_matches(word, rules, n=1, cutoff=ALIKE)
        if close and word not in rules and word.isidentifier():
            yield f"{word}: no such target (did you mean {close[0]}?)"


def refuse_wrong_targets(
    study: Study, shown: Container[str], arguments: Sequence[str], rules: Sequence[str] = ()
) -> None:
    """Print the problems of the targets on the command line and exit, if there are any."""
    known = [wrong for word in arguments if (wrong := problem(study, shown, word))]
    problems = [f"target: {wrong}" for wrong in known or mistyped(arguments, rules)]
    submits = ("--profile", "slurm") in pairwise(arguments) or "--profile=slurm" in arguments
    if submits and not DRY & set(arguments) and not shutil.which("sbatch"):
        problems.append(
            "profile slurm: no sbatch on this machine (start it on a login node, or without --profile slurm)"
        )
    if problems:
        print("\n".join(problems), file=sys.stderr, flush=True)
        sys.exit(EXIT_BAD_CONFIG)
