"""What each product of a study is made from, as one hash: its own settings, its stage's revision, its inputs' hashes.

The methods follow the rules. What a rule takes from the description stands here beside the hashes of what it reads, so
that a result at the end of the chain knows of every value that decides it. Where files lie (study.results, data.root)
and how work is shared out over jobs decide nothing.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workflow_scripts.study import Study

TASK_SIZES = {"nli": "nli_pairs", "ner": "ner_sentences", "parsing": "treebank_sentences"}


def hashed(value: object) -> str:
    """Return the hash of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Identity:
    """The hashes of a study's products."""

    study: "Study"
    _known: dict[object, str] = field(default_factory=dict)

    def raw(self, path: str, codes: Iterable[str], sizes: Iterable[str] = ()) -> dict[str, Any]:
        """Return what a raw file below the data root is: where it comes from, or what it is generated from.

        `codes` are the languages whose traits are in what is read of it, `sizes` the numbers of the generator that are.
        """
        config = self.study.config
        about: dict[str, Any] = {"path": path, "origin": config["data"]["origin"]}
        if not self.study.generated:
            return about
        made = config["synthetic"]
        numbers = {key: made[key] for key in ("world_seed", "seed", *sizes)}
        traits = {code: made["languages"][code] for code in {self.study.original(code) for code in codes}}
        return about | {"traits": traits, "revision": self.revision("synthetic"), **numbers}

    def revision(self, *stages: str) -> list[int]:
        """Return the revisions of the code of some stages."""
        return [self.study.revisions.get(stage, 0) for stage in stages]

    def tokeniser(self, code: str) -> dict[str, Any]:
        """Return how a language's text becomes words, the segmenter's dictionary by what it is."""
        options, path = self.study.tokeniser(code), self.study.language(code).get("segmenter_dictionary")
        data = {"data": self.raw(path, [code]) if path else None, "revision": self.revision("tokenization")}
        return {key: value for key, value in options.items() if key not in ("dictionary", "stanford_home")} | data

    def words(self, code: str, domain: str) -> str:
        """Return the hash of a language's tokenised text: extract_text, tokenise_text."""
        source, original = self.study.language(code)["text"][domain], self.study.original(code)
        raw = [self.raw(path, [original], [f"{domain}_sentences"]) for path in source["files"]]
        least = self.study.config["text"]["min_characters"]
        return hashed([self.revision("data"), source["format"], least, raw, self.tokeniser(original)])

    def corpus(self, code: str, domain: str) -> str:
        """Return the hash of a language's corpus: split_corpus."""
        text, original = self.study.config["text"], self.study.original(code)
        held_out = [text["valid_lines"], text["test_lines"]]
        trimmed = [self.words(original, other) for other in self.study.trimmed_to(code, domain)]
        order = None if code == original else code
        words = self.words(original, domain)
        return hashed([self.revision("tokenization"), words, held_out, trimmed, order])

    def vocabulary(self, name: str) -> str:
        """Return the hash of a vocabulary as en-fr.joint.wiki: train_bpe, build_vocabulary."""
        if name not in self._known:
            codes, kind, domain = _parts(name)
            bpe = self.study.config["bpe"]
            texts = [self.corpus(code, _domain(code, codes, domain)) for code in codes]
            merges = bpe["joint_merges" if kind == "joint" else "language_merges"]
            sample = [bpe["train_lines"], bpe["balance"]]
            self._known[name] = hashed([self.revision("bpe"), kind, codes, texts, merges, *sample])
        return self._known[name]

    def stream(self, path: str) -> str:
        """Return the hash of a token stream as en-fr.joint.wiki/fr.switched: encode_text."""
        vocabulary, _, stream = path.partition("/")
        code, _, variant = stream.partition(".")
        codes, _, domain = _parts(vocabulary)
        texts = [self.corpus(code, _domain(code, codes, domain))]
        texts += [self.switched("-".join(codes), domain, code)] if variant == "switched" else []
        ends = self.study.config["bpe"]["sentence_ends"]
        return hashed([self.revision("bpe"), self.vocabulary(vocabulary), code, texts, ends])

    def switched(self, pair: str, domain: str, code: str) -> str:
        """Return the hash of code-switched text: build_dictionary, switch_codes."""
        codes, config = pair.split("-"), self.study.config
        text = self.corpus(code, _domain(code, codes, domain))
        options = [config["codeswitch"], config["text"]["lowercase"]]
        return hashed([self.revision("codeswitch"), text, self.dictionary(pair), options])

    def dictionary(self, pair: str) -> str:
        """Return the hash of a dictionary; a generated one knows the same words in all languages of the study."""
        codes = pair.split("-")
        entries = [self.study.language(code).get("dictionary", {}) for code in codes]
        raw = self.raw(entries[1]["path"], self.study.originals, ["dictionary_share"])
        names = [entry.get("code") for entry in entries]
        sides = [self.tokeniser(code) for code in codes]
        return hashed([self.revision("data"), entries[1]["format"], raw, names, sides])

    def model(self, name: str) -> str:
        """Return the hash of a trained model: everything in its run.json, which holds its streams' hashes."""
        key = ("model", name)
        if key not in self._known:
            self._known[key] = hashed([self.revision("pretrain"), self.study.run(name)])
        return self._known[key]

    def untrained(self, run: dict[str, Any]) -> str:
        """Return the hash of an encoder that is only drawn; of its training, only the length that it reads counts."""
        return hashed([self.revision("pretrain"), *drawn_parts(run)])

    def task(self, kind: str, code: str, dataset: str, split: str) -> str:
        """Return the hash of a split of a task's data: prepare_task."""
        source = self.study.task_files(kind)[code, dataset, split]
        path = Path(source["path"]).relative_to(self.study.root).as_posix()
        raw = self.raw(path, [code], [TASK_SIZES[kind]])
        return hashed([source["format"], raw, self.tokeniser(code), split])

    def prepared(self, path: str | Path) -> str:
        """Return the same for a prepared file, whose path names it: tasks/ner/fr.wikiann.test.jsonl."""
        code, dataset, split = Path(path).stem.split(".")
        return self.task(Path(path).parent.name, code, dataset, split)

    def parallel(self, code: str) -> str:
        """Return the hash of a language's parallel sentences: prepare_parallel."""
        side = code if code in self.study.parallel_sides else self.study.original(code)
        path = self.study.parallel_sides[side] or self.study.config["data"]["parallel"]
        return hashed([side, self.raw(path, [side], ["parallel_sentences"]), self.tokeniser(side)])

    def tatoeba(self, source: str, code: str) -> str:
        """Return the hash of both sides of a test set: prepare_tatoeba."""
        names = [self.study.language(one).get("tatoeba") for one in (source, code)]
        raw = self.raw(self.study.config["data"]["tatoeba"], [source, code], ["tatoeba_sentences"])
        return hashed([names, raw, self.tokeniser(source), self.tokeniser(code)])

    def translations(self, source: str, code: str) -> str:
        """Return the hash of the word pairs and published vectors that translation is judged with."""
        codes = [source, code]
        pairs = {split: self.raw(path, codes) for split, path in self.study.language(code)["muse"].items()}
        paths = {one: self.study.language(one).get("vectors") for one in codes}
        vectors = {c: self.raw(p, [c], ["wiki_sentences", "vector_size"]) for c, p in paths.items() if p}
        return hashed([pairs, vectors, self.tokeniser(source), self.tokeniser(code)])


def drawn_parts(run: Mapping[str, Any]) -> list[Any]:
    """Return what of a run.json decides an encoder that is only drawn, and what it reads."""
    drawn = {key: run[key] for key in ("languages", "selection_language", "seed", "shape", "separate", "softmax")}
    return [drawn, [run["pretrain"]["length"], run["made_from"]["vocabulary"]]]


def _parts(vocabulary: str) -> tuple[list[str], str, str]:
    languages, kind, domain = vocabulary.split(".")
    return languages.split("-"), kind, domain


def _domain(code: str, codes: list[str], domain: str) -> str:
    """Return a language's domain in a vocabulary: the source language's is always wiki."""
    return domain if code == codes[-1] else "wiki"
