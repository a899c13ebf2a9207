"""Command-line flags that depend on the study: what a rule cannot write as one value a line."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any
from zlib import crc32

from workflow_scripts.grid import saving
from xling.core.results import hashed, untrained_parts

if TYPE_CHECKING:
    from workflow_scripts.study import Study


def as_json(value: object) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(value, sort_keys=True)


def compared(content: Callable[[Any], object]) -> Callable[[Any], str]:
    """Return a param that is a plan as one line of JSON, which Snakemake compares with an earlier run's."""
    return lambda wildcards: as_json(content(wildcards))


def readable(content: Callable[[Any], object]) -> Callable[[Any, Any], str]:
    """Return a param that is a plan for a reader; a function of `output`, which Snakemake does not compare."""
    return lambda wildcards, output: json.dumps(content(wildcards), indent=2, sort_keys=True, ensure_ascii=False)  # noqa: ARG005


def size_flag(stats: list[Path]) -> str:
    """Return the flag that trims a corpus to the smallest of several, or nothing for none."""
    return " ".join(["--max-words-of", *(quote(str(path)) for path in stats)]) if stats else ""


def order_flag(study: "Study", language: str) -> str:
    """Return the flag that gives a copied language an order of its own."""
    return f"--shuffle-seed {crc32(language.encode())}" if study.original(language) != language else ""


def named_flags(flag: str, values: Mapping[str, str | Path]) -> str:
    """Return a flag once for every language, as --model en=path."""
    return " ".join(f"{flag} {quote(f'{code}={value}')}" for code, value in values.items())


def expected_run(path: Path, described: Mapping[str, object], untrained: bool) -> str:
    """Return what `workflow_scripts.expect` is to find in an encoder's run.json; less of one that is not trained."""
    return quote(f"{path}={hashed(untrained_parts(described) if untrained else described)}")


def saving_flags(study: "Study", model: str) -> str:
    """Return the flags that say how often a model's training is saved."""
    return option_flags(saving(study.config, study.models[model]))


def option_flags(options: Mapping[str, object]) -> str:
    """Return keys of the config as flags of the same name."""
    return join_flags({f"--{key.replace('_', '-')}": value for key, value in options.items()})


def dictionary_flags(study: "Study", pair: str) -> str:
    """Return the flags that say how a pair's dictionary is read."""
    source, target = (study.language(code).get("dictionary", {}) for code in pair.split("-"))
    flags = {"--format": target["format"], "--input": study.raw(target["path"])}
    if target["format"] == "panlex":
        flags |= {"--source": source["code"], "--target": target["code"]}
    return join_flags(flags)


def parallel_flags(study: "Study", code: str) -> str:
    """Return the flags that say where a language's parallel sentences are.

    Its own file, if it has one, must be as long as the table.
    """
    path = study.parallel_sides[code]
    return named_flags("--file", {code: study.raw(path)}) if path else f"--languages {code}"


def language_flags(study: "Study", code: str) -> str:
    """Return the flags that say what the generator writes for one language."""
    sizes = study.config["synthetic"]
    values = {
        "--code": code,
        "--source": study.config["study"]["source"],
        "--wiki-sentences": sizes["wiki_sentences"],
        "--crawl-sentences": sizes["crawl_sentences"],
        "--treebank-sentences": _comma(sizes["treebank_sentences"]),
        "--ner-sentences": _comma(sizes["ner_sentences"]),
        "--vector-size": sizes["vector_size"],
    }
    return join_flags(values | _seeds(study))


def together_flags(study: "Study") -> str:
    """Return the flags that say what the generator writes for all languages at once."""
    sizes = study.config["synthetic"]
    values = {
        "--nli": _comma(sizes["nli_pairs"]),
        "--parallel": sizes["parallel_sentences"],
        "--tatoeba": sizes["tatoeba_sentences"],
        "--dictionary-share": sizes["dictionary_share"],
    }
    return join_flags(values | _seeds(study))


def _seeds(study: "Study") -> dict[str, object]:
    return {"--world-seed": study.config["synthetic"]["world_seed"], "--seed": study.config["synthetic"]["seed"]}


def _comma(numbers: list[int]) -> str:
    return ",".join(str(number) for number in numbers)


def join_flags(values: Mapping[str, object]) -> str:
    return " ".join(f"{flag} {quote(str(value))}" for flag, value in values.items())
