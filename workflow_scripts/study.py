"""A study whose config has been checked: the path of every file, and the files that each model is made from."""

import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from workflow_scripts.alignment import Alignment, Contextual
from workflow_scripts.checks import check
from workflow_scripts.config import Config, ConfigError, expand_path, read_config
from workflow_scripts.files import SPLITS, TASK_DATA, Files
from workflow_scripts.flags import expected_run
from workflow_scripts.grid import domain_in, parse_vocabulary, split_languages
from workflow_scripts.identity import Identity
from workflow_scripts.transfer import Transfer
from xling.core.results import hashed
from xling.core.tasks import TASKS

EXIT_BAD_CONFIG = 2
# A study counts as paper-scale if it trains each model on at least this many tokens. The paper uses 82 billion (section
# 3.1: 200 epochs, in each of which each of 8 GPUs reads 200k sequences of 256 tokens).
PAPER_TOKENS = 80_000_000_000


def load_study(config: Config, files: Iterable[str | Path] = (), revisions: Mapping[str, int] | None = None) -> "Study":
    """Check a merged config and the files it came from; on an error, print one line and exit with status 2."""
    try:
        read_config(*map(Path, files))
        check(config)
        return Study(config, revisions)
    except ConfigError as error:
        print(error, file=sys.stderr, flush=True)
        sys.exit(EXIT_BAD_CONFIG)


class Study(Files):
    """The paths and settings of one study, for use by the rules, and the revision numbers of the code."""

    def __init__(self, config: Config, revisions: Mapping[str, int] | None = None) -> None:
        super().__init__(config)
        self.revisions = revisions or {}
        self.results: Path = expand_path(config["study"]["results"]) / config["study"]["name"]

    identity = cached_property(Identity)  # the hashes of everything that the study makes
    transfer = cached_property(Transfer)  # Table 1 and Figure 3
    alignment = cached_property(Alignment)  # Figures 4, 6 and 7
    contextual = cached_property(Contextual)  # Figures 5 and 8

    def raw(self, *parts: str) -> str:
        """Return the path of a raw file."""
        return str(self.root.joinpath(*parts))

    def raw_text(self, code: str, domain: str) -> list[str]:
        """Return the raw text files of a language and domain."""
        return [self.raw(path) for path in self.language(code)["text"][domain]["files"]]

    def run(self, name: str) -> dict[str, Any]:
        """Return the content of a model's run.json: its settings, and the hashes of its vocabulary and streams."""
        described = self.describe_run(self.models[name])
        made_from, vocabulary = described["made_from"], self.vocabulary(name)
        made_from["vocabulary"]["hash"] = self.identity("vocabulary", vocabulary)
        for code, stream in self.streams(name).items():
            # The hash identifies the ids that training sees. With a separate vocabulary they depend on the stream
            # alone; otherwise the vocabulary maps the stream's ids to its own.
            read = stream if made_from["vocabulary"]["kind"] == "separate" else f"{vocabulary}/{Path(stream).name}"
            made_from["corpus"][code]["hash"] = self.identity("stream", read)
        return described

    def shards(self, folder: str, code: str, domain: str, suffix: str = "txt.zst") -> list[Path]:
        """Return the shards of a language's text or tokenised text, in order; suffix json gives their statistics."""
        code = self.original(code)
        count = self.language(code)["text"][domain].get("shards", 1)
        names = [f".{number}-of-{count}" for number in range(1, count + 1)] if count > 1 else [""]
        return [self.results / f"{folder}/{code}.{domain}{name}.{suffix}" for name in names]

    def thinned_to(self, code: str, domain: str) -> float | None:
        """Return the size to which a crawl is sampled, as a multiple of Wikipedia's; None if it is not sampled."""
        margin: float | None = self.config["text"]["crawl_margin"]
        return margin if self.trimmed_to(code, domain) else None

    def corpus(self, code: str, domain: str, split: str = "train") -> Path:
        """Return one split of a language's corpus."""
        return self.results / f"corpus/{code}.{domain}/{split}.txt.zst"

    def model_file(self, name: str, file: str = "model.safetensors") -> Path:
        """Return a file of a trained model."""
        return self.results / "models" / name / file

    def encoder_files(self, names: Iterable[str], untrained: bool = False) -> list[Path]:
        """Return the files that jobs need to load these models, run.json first; with `untrained`, only run.json."""
        parts = ["run.json"] if untrained else ["run.json", "model.json", "model.safetensors"]
        return [self.model_file(name, part) for name in dict.fromkeys(names) for part in parts]

    def expected(self, names: Iterable[str], untrained: bool = False) -> str:
        """Return the arguments for `workflow_scripts.expect`: each model's run.json and the hash that it must have."""
        runs = {self.model_file(name, "run.json"): self.run(name) for name in names}
        return " ".join(expected_run(path, run, untrained) for path, run in runs.items())

    def vocabulary_folder(self, name: str) -> Path:
        """Return the folder of a model's vocabulary."""
        return self.results / "vocab" / self.vocabulary(name)

    def vocabulary_models(self, vocabulary: str) -> dict[str, Path]:
        """Return the BPE model of each language of a vocabulary; a copy of a language has that of its original."""
        codes, kind, domain = parse_vocabulary(vocabulary)
        own = {code: (self.original(code), domain_in(codes, domain, code)) for code in codes}
        names = dict.fromkeys(codes, ("-".join(codes), domain)) if kind == "joint" else own
        return {code: self.results / f"bpe/{name}.{text}.model" for code, (name, text) in names.items()}

    def stream_folders(self, name: str) -> dict[str, Path]:
        """Return the folders of a model's token streams, by language."""
        return {code: self.results / "streams" / stream for code, stream in self.streams(name).items()}

    def parallel_side(self, code: str) -> str:
        """Return the language whose parallel sentences `code` uses: a copy without its own uses its original's."""
        return code if code in self.parallel_sides else self.original(code)

    def parallel(self, code: str) -> Path:
        """Return the file of the parallel sentences that are used for a language."""
        return self.results / f"parallel/{self.parallel_side(code)}.txt"

    def task_data(self, task: str, pair: str) -> dict[str, Any]:
        """Return the prepared files of a task: train and dev of the source language, test sets of both languages."""
        kind, (source, target) = TASKS[task].data, split_languages(pair)
        train, dev, test, other = (self.task_file(kind, *key) for key in self.task_keys(kind, pair))
        return {"train": train, "dev": dev, "test": {source: test, target: other}}

    def task_file(self, kind: str, code: str, dataset: str, split: str) -> str:
        """Return one prepared file of a task."""
        return str(self.results / f"tasks/{kind}/{code}.{dataset}.{split}.jsonl")

    def vocabulary(self, name: str) -> str:
        """Return the name of a model's vocabulary, such as en-fr.joint.wiki."""
        model = self.models[name]
        domain = self.domain_of(model, model.languages[-1])
        return f"{'-'.join(model.languages)}.{self.vocabulary_kind(model)}.{domain}"

    def streams(self, name: str) -> dict[str, str]:
        """Return the token streams that a model reads, by language.

        They hold the subword ids of a BPE model, which are mapped to the ids of a vocabulary when they are read. A
        language with its own BPE model therefore has one stream for all vocabularies, except for code-switched text,
        which is specific to a pair.
        """
        model, vocabulary = self.models[name], self.vocabulary(name)
        if self.anchors(name) == "extra":
            return {code: f"{vocabulary}/{code}.switched" for code in model.languages}
        if self.vocabulary_kind(model) == "joint":
            return {code: f"{vocabulary}/{code}.plain" for code in model.languages}
        domains = {code: self.domain_of(model, code) for code in model.languages}
        return {code: f"{code}.mono.{domain}/{code}.plain" for code, domain in domains.items()}

    def tokeniser(self, code: str) -> dict[str, Any]:
        """Return the options of a language's tokeniser."""
        language, text = self.language(code), self.config["text"]
        dictionary = language.get("segmenter_dictionary")
        stanford = language["segmenter"] == "stanford"
        return {
            "language": self.original(code),
            "moses": language["moses"],
            "segmenter": language["segmenter"],
            "dictionary": self.raw(dictionary) if dictionary and not stanford else None,
            "stanford_home": self.raw(dictionary) if dictionary and stanford else None,
            "script": text["han_script"] if language["script"] == "Han" else "none",
            "lowercase": text["lowercase"],
            "strip_accents": text["strip_accents"],
        }

    def tokeniser_file(self, code: str) -> Path:
        """Return the file that holds the options of a language's tokeniser."""
        return self.results / f"tokenisers/{code}.json"

    def task_source(self, kind: str, code: str, dataset: str, split: str) -> tuple[str, list[str]]:
        """Return the format and the raw files of one split of a task's data."""
        form = TASK_DATA[kind].form or self.language(code)[kind][dataset]["format"]
        if (kind, split) == ("nli", "train"):  # published with XNLI's translations, in a format of its own
            form = "xnli-mt-tokenised" if self.config["data"]["nli_tokenised"] else "xnli-mt"
            more = ["data.more_nli"]
        else:
            more = []
        paths = self.files_at(self.task_key(kind, code, dataset, split), *more).values()
        return form, [self.raw(path) for path in paths]

    def generated_of(self, code: str) -> list[str]:
        """Return the raw files that the generator writes for one language."""
        language = self.language(code)
        several = ["treebank", *(f"ner.{name}" for name in language.get("ner", {}))]
        keys = [f"text.{domain}.files" for domain in language["text"]]
        keys += [f"{data}.{split}" for data, split in product(several, SPLITS)]
        files = self.files_at(*(f"languages.{code}.{key}" for key in [*keys, "segmenter_dictionary"]))
        return [self.raw(path) for path in dict.fromkeys(files.values())]

    def generated_together(self) -> list[str]:
        """Return the raw files that the generator writes for all languages together, except dictionary_folders."""
        others = [code for code in self.originals if code != self.source]
        keys = [*(f"data.nli.{split}" for split in SPLITS), "data.parallel"]
        keys += [f"languages.{code}.parallel" for code in self.languages]
        keys += [f"languages.{code}.muse.{split}" for code, split in product(others, SPLITS)]
        return [self.raw(path) for path in [*dict.fromkeys(self.files_at(*keys).values()), *self.tatoeba_files]]

    def dictionary_folders(self) -> list[str]:
        """Return the folders of the dictionaries for code-switching."""
        paths = self.files_at(*(f"languages.{code}.dictionary.path" for code in self.originals)).values()
        return sorted({self.raw(path) for path in paths})

    def embedded(self) -> list[dict[str, Any]]:
        """Return the code, three-letter code and traits of each generated language, the source language first."""
        traits = self.config["synthetic"]["languages"]
        codes = sorted(self.originals, key=lambda code: code != self.source)
        return [{"code": code, "iso3": self.language(code)["tatoeba"], "traits": traits[code]} for code in codes]

    def trimmed_to(self, code: str, domain: str) -> list[str]:
        """Return the domains whose texts limit the size of a crawl; the list is empty if it is not trimmed.

        A crawl is cut to the size of the smallest of them, so that Wiki-CC trains on no more text than Default.
        """
        domains = self.domains.get(code, [])
        return domains if domain == "crawl" and len(domains) > 1 else []

    def shuffled(self, code: str) -> bool:
        """Return whether the lines of a language's training text are shuffled; those of a copy always are."""
        return bool(self.config["text"]["shuffle"]) or self.original(code) != code

    def anchors(self, name: str) -> str:
        """Return whether a model has all, none or extra anchors."""
        return str(self.setting_of(self.models[name])["anchors"])

    def provenance(self) -> dict[str, Any]:
        """Return the description of the study for provenance.json, with names that identify its own jobs."""
        encoders = sorted({*self.models, *self.transfer.encoders, *self.contextual.jobs})
        together = {"-".join(model.languages) for model in self.models.values()}
        texts = sorted({*self.languages, *self.originals, *self.config["study"]["pairs"], *together})
        data = sorted({str(path) for path in self.needed_files.values()})
        about = {"study": self.config["study"]["name"], "config": self.config, "config_hash": hashed(self.config)}
        return about | {"encoders": encoders, "texts": texts, "data_root": str(self.root), "data": data}

    def scale_flag(self) -> str:
        """Return `--paper-scale` if models train on real text and at least PAPER_TOKENS tokens, otherwise nothing."""
        train = self.config["pretrain"]
        tokens = train["updates"] * train["micro_batches"] * train["micro_batch_tokens"]
        return "--paper-scale" if tokens >= PAPER_TOKENS and not self.generated else ""
