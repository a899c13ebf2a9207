"""Command-line flags that depend on the study and that a rule cannot write as one value per line."""

import json
from collections.abc import Callable, Mapping
from itertools import takewhile
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any
from zlib import crc32

from workflow_scripts.grid import SAVING
from xling.core.results import hashed, untrained_parts

if TYPE_CHECKING:
    from workflow_scripts.study import Study

# Keys of the section `synthetic`: for the files of one language, and for the files that all languages share.
OF_A_LANGUAGE = ["wiki_sentences", "crawl_sentences", "treebank_sentences", "ner_sentences", "world_seed", "seed"]
OF_ALL_LANGUAGES = {
    "--nli": "nli_pairs",
    "--parallel": "parallel_sentences",
    "--tatoeba": "tatoeba_sentences",
    "--dictionary-share": "dictionary_share",
    "--world-seed": "world_seed",
    "--seed": "seed",
}


def as_json(value: object) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(value, sort_keys=True)


def compared(content: Callable[[Any], object]) -> Callable[[Any], str]:
    """Return a param function that gives a plan as one line of JSON; Snakemake reruns the job if it changes."""
    return lambda wildcards: as_json(content(wildcards))


def readable(content: Callable[[Any], object]) -> Callable[[Any, Any], str]:
    """Return a param function that gives a plan as indented JSON; it takes `output`, so Snakemake ignores changes."""
    return lambda wildcards, output: json.dumps(content(wildcards), indent=2, sort_keys=True, ensure_ascii=False)  # noqa: ARG005


def text_checks(study: "Study", code: str, domain: str | None = None) -> str:
    """Return the flags that check a text: its script, and that it differs from the texts of other languages.

    A text with a domain is compared with those of the languages before it; a task has none, and is compared with all.
    """
    script, there = study.language(code)["script"], dict[str, str]()
    before = takewhile(lambda other: other != code, study.originals) if domain else study.originals
    unlike = [] if study.generated else [other for other in before if other != study.original(code)]
    for other in map(study.language, unlike):
        text = other["text"].get(domain) or other["text"]["wiki"]  # the source language may have only this one
        path = study.raw(text["files"][0])
        if other["script"] == script and text["format"] != "wikipedia" and Path(path).is_file():
            there[other["name"]] = path
    return f"{join_flags({'--script': script})} {named_flags('--unlike', there)}"


def size_flag(study: "Study", language: str, domain: str) -> str:
    """Return the flag that trims a corpus to the smallest of several texts, or nothing if it is not trimmed."""
    texts = [study.shards("tokenised", language, name, "json") for name in study.trimmed_to(language, domain)]
    return " ".join(["--max-words-of", *(quote(":".join(map(str, shards))) for shards in texts)]) if texts else ""


def thin_flags(study: "Study", language: str, domain: str) -> str:
    """Return the flags that sample a part of a crawl before it is tokenised, or nothing if all of it is used."""
    if (margin := study.thinned_to(language, domain)) is None:
        return ""
    stats = {
        flag: study.shards("text", language, name, "json") for flag, name in (("wanted", "wiki"), ("given", domain))
    }
    paths = [f"--{flag} {' '.join(quote(str(path)) for path in shards)}" for flag, shards in stats.items()]
    return " ".join([f"--thin {margin}", *paths])


def order_flag(study: "Study", language: str) -> str:
    """Return the flag that shuffles a language's training text, or nothing if its lines keep their order."""
    return f"--shuffle-seed {crc32(language.encode())}" if study.shuffled(language) else ""


def named_flags(flag: str, values: Mapping[str, str | Path]) -> str:
    """Return a flag once for every key, such as --model en=path."""
    return " ".join(f"{flag} {quote(f'{code}={value}')}" for code, value in values.items())


def expected_run(path: Path, described: Mapping[str, object], untrained: bool) -> str:
    """Return the argument of `workflow_scripts.expect`: an encoder's run.json with its hash, or untrained hash."""
    return quote(f"{path}={hashed(untrained_parts(described) if untrained else described)}")


def saving_flags(study: "Study", model: str) -> str:
    """Return the flags that set how often training saves a checkpoint and how many are kept."""
    training = study.training(study.models[model])
    return option_flags({key: training[key] for key in SAVING})


def option_flags(options: Mapping[str, object]) -> str:
    """Return config keys as flags with the same names."""
    return join_flags({f"--{key.replace('_', '-')}": value for key, value in options.items()})


def dictionary_flags(study: "Study", pair: str) -> str:
    """Return the flags that name a pair's dictionary, its format and its languages."""
    source, target = (study.language(code).get("dictionary", {}) for code in pair.split("-"))
    flags = {"--format": target["format"], "--input": study.raw(target["path"])}
    if target["format"] == "panlex":
        flags |= {"--source": source["code"], "--target": target["code"]}
    return join_flags(flags)


def parallel_flags(study: "Study", code: str) -> str:
    """Return the flags that name a language's parallel sentences: its own file, or a column of the table.

    If the language has its own file, the file must have as many lines as the table.
    """
    path = study.parallel_sides[code]
    return named_flags("--file", {code: study.raw(path)}) if path else f"--languages {code}"


def language_flags(study: "Study", code: str) -> str:
    """Return the generator's flags for the files of one language."""
    sizes = {key: study.config["synthetic"][key] for key in OF_A_LANGUAGE}
    return option_flags({"code": code, "source": study.source, **sizes})


def together_flags(study: "Study") -> str:
    """Return the generator's flags for the files that all languages share."""
    return join_flags({flag: study.config["synthetic"][key] for flag, key in OF_ALL_LANGUAGES.items()})


def join_flags(values: Mapping[str, object]) -> str:
    """Return flags with their values; the items of a list are joined by commas."""
    texts = {flag: ",".join(map(str, v)) if isinstance(v, list) else str(v) for flag, v in values.items()}
    return " ".join(f"{flag} {quote(text)}" for flag, text in texts.items())
