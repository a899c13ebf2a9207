"""Hashes of everything that a study produces, from corpora to verdicts.

Each kind of product (corpus, vocabulary, model, score, …) has a method named after it. The method returns a recipe:
everything that determines the product, namely the revisions of the code that makes it, the config values used, and the
hashes of the inputs. The hash of a final result therefore depends on every value that affects it. File locations
(study.results, data.root) and the division of work into jobs do not affect results, so recipes leave them out. The
docstrings of the recipes name the rules that make the product.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow_scripts.alignment import analysis_of
from workflow_scripts.files import TASK_DATA, data_paths
from workflow_scripts.grid import OWN, domain_in, parse_vocabulary, without_added
from xling.core.results import hashed, untrained_parts

if TYPE_CHECKING:
    from workflow_scripts.study import Study


class Identity:
    """The hashes of a study's products, by kind: identity("corpus", "fr", "wiki")."""

    def __init__(self, study: "Study") -> None:
        self.study, self.config = study, study.config
        self._known: dict[tuple[str, ...], str] = {}

    def __call__(self, kind: str, *key: str) -> str:
        """Return the hash of one product."""
        known = (kind, *key)
        if known not in self._known:
            self._known[known] = hashed(getattr(self, kind)(*key))
        return self._known[known]

    def revision(self, *stages: str) -> list[int]:
        """Return the code revisions of the given stages (REV in rules/common.smk)."""
        return [self.study.revisions.get(stage, 0) for stage in stages]

    def raw(self, path: str, codes: Iterable[str], sizes: Iterable[str] = ()) -> dict[str, Any]:
        """Return the identity of a raw file: its path, its origin and, for generated data, the generator's settings.

        `codes` are the languages, and `sizes` the generator's size keys, that affect the part of the file that is read.
        """
        about: dict[str, Any] = {"path": path, "origin": self.config["data"]["origin"]}
        if not self.study.generated:
            return about
        made = self.config["synthetic"]
        numbers = {key: made[key] for key in ("world_seed", "seed", *sizes)}
        traits = {code: made["languages"][code] for code in {self.study.original(code) for code in codes}}
        return about | {"traits": traits, "revision": self.revision("synthetic"), **numbers}

    def tokeniser(self, code: str) -> dict[str, Any]:
        """Return the tokeniser options that affect results; a segmenter's dictionary is identified as a raw file."""
        options, path = self.study.tokeniser(code), self.study.language(code).get("segmenter_dictionary")
        data = {"data": self.raw(path, [code]) if path else None, "revision": self.revision("tokenization")}
        return {key: value for key, value in options.items() if key not in ("dictionary", "stanford_home")} | data

    def prepared(self, data: Mapping[str, Any]) -> list[str]:
        """Return the hashes of a task's files, which have names such as tasks/ner/fr.wikiann.test.jsonl."""
        paths = map(Path, data_paths(data))
        return [self("task", path.parent.name, *path.stem.split(".")) for path in paths]

    # The recipes follow, in the order of the paper.

    def words(self, code: str, domain: str) -> Any:
        """Return the recipe for a tokenised text (rules extract_text and tokenise_text)."""
        source, original = self.study.language(code)["text"][domain], self.study.original(code)
        raw = [self.raw(path, [original], [f"{domain}_sentences"]) for path in source["files"]]
        least, margin = self.config["text"]["min_characters"], self.study.thinned_to(code, domain)
        thinned = [] if margin is None else [margin, self("words", original, "wiki")]  # only if a crawl is sampled
        return [self.revision("data"), source["format"], least, raw, self.tokeniser(original), *thinned]

    def corpus(self, code: str, domain: str) -> Any:
        """Return the recipe for a corpus with its held-out lines (rule split_corpus)."""
        text, original = self.config["text"], self.study.original(code)
        held_out = [text["valid_lines"], text["test_lines"]]
        trimmed = [self("words", original, other) for other in self.study.trimmed_to(code, domain)]
        order = code if self.study.shuffled(code) else None
        return [self.revision("tokenization"), self("words", original, domain), held_out, trimmed, order]

    def vocabulary(self, name: str) -> Any:
        """Return the recipe for a vocabulary such as en-fr.joint.wiki (rules train_bpe and build_vocabulary)."""
        codes, kind, domain = parse_vocabulary(name)
        bpe = self.config["bpe"]
        texts = [self("corpus", code, domain_in(codes, domain, code)) for code in codes]
        merges = bpe["joint_merges" if kind == "joint" else "language_merges"]
        sample = [bpe[key] for key in ("train_lines", "balance") if key in without_added(bpe)]
        return [self.revision("bpe"), kind, codes, texts, merges, *sample]

    def stream(self, path: str) -> Any:
        """Return the recipe for the token ids of a text, such as en-fr.joint.wiki/fr.switched (rule encode_text)."""
        name, _, text = path.partition("/")
        code, _, variant = text.partition(".")
        codes, _, domain = parse_vocabulary(name)
        texts = [self("corpus", code, domain_in(codes, domain, code))]
        texts += [self("switched", "-".join(codes), domain, code)] if variant == "switched" else []
        return [self.revision("bpe"), self("vocabulary", name), code, texts, self.config["bpe"]["sentence_ends"]]

    def switched(self, pair: str, domain: str, code: str) -> Any:
        """Return the recipe for a code-switched corpus (rule switch_codes)."""
        text = self("corpus", code, domain_in(pair.split("-"), domain, code))
        options = [self.config["codeswitch"], self.config["text"]["lowercase"]]
        return [self.revision("codeswitch"), text, self("dictionary", pair), options]

    def dictionary(self, pair: str) -> Any:
        """Return the recipe for a pair's dictionary (rule build_dictionary).

        A generated dictionary depends on all languages, because its source words are sampled for all of them together.
        """
        codes = pair.split("-")
        entries = [self.study.language(code).get("dictionary", {}) for code in codes]
        raw = self.raw(entries[1]["path"], self.study.originals, ["dictionary_share"])
        names = [entry.get("code") for entry in entries]
        return [self.revision("data"), entries[1]["format"], raw, names, [*map(self.tokeniser, codes)]]

    def model(self, name: str) -> Any:
        """Return the recipe for a model (rule pretrain): run.json contains the hashes of vocabulary and text."""
        return [self.revision("pretrain"), self.study.run(name)]

    def untrained(self, name: str) -> Any:
        """Return the recipe for an untrained encoder (rule fine_tune); of pretraining, only the length counts."""
        return [self.revision("pretrain"), *untrained_parts(self.study.transfer.run(name))]

    def task(self, kind: str, code: str, dataset: str, split: str) -> Any:
        """Return the recipe for one split of a task's data (rule prepare_task)."""
        form, paths = self.study.task_source(kind, code, dataset, split)
        names = [Path(path).relative_to(self.study.root).as_posix() for path in paths]
        first, *more = [self.raw(name, [code], [TASK_DATA[kind].size]) for name in names]
        return [form, first, self.tokeniser(code), split, *more]

    def parallel(self, code: str) -> Any:
        """Return the recipe for a language's parallel sentences (rule prepare_parallel)."""
        side = self.study.parallel_side(code)
        path = self.study.parallel_sides[side] or self.config["data"]["parallel"]
        return [side, self.raw(path, [side], ["parallel_sentences"]), self.tokeniser(side)]

    def tatoeba(self, source: str, code: str) -> Any:
        """Return the recipe for both sides of a Tatoeba test set (rule prepare_tatoeba)."""
        names = [self.study.language(one).get("tatoeba") for one in (source, code)]
        raw = self.raw(self.config["data"]["tatoeba"], [source, code], ["tatoeba_sentences"])
        return [names, raw, *map(self.tokeniser, (source, code))]

    def translations(self, source: str, code: str) -> Any:
        """Return the recipe for the word pairs and vectors that rule translate_words is evaluated with."""
        codes = [source, code]
        pairs = {split: self.raw(path, codes) for split, path in self.study.language(code)["muse"].items()}
        paths = {one: self.study.language(one).get("vectors") for one in codes}
        vectors = {c: self("vectors", c) if p == OWN else self.raw(p, [c]) for c, p in paths.items() if p}
        return [pairs, vectors, *map(self.tokeniser, codes)]

    def vectors(self, code: str) -> Any:
        """Return the recipe for a language's fastText vectors (rule train_vectors)."""
        return [self.revision("align"), self("corpus", code, "wiki"), self.config["align"]["own_vectors"]]

    def score(self, encoder: str, name: str) -> Any:
        """Return the recipe for an encoder's score on one task (rule fine_tune)."""
        transfer = self.study.transfer
        return {
            "encoder": self("untrained" if encoder in transfer.floors else "model", encoder),
            "seed": transfer.encoders[encoder].seed,
            "data": self.prepared(transfer.data(encoder, name)),
            "task": name,
            "settings": without_added(self.config["tasks"][name]),
            "revision": self.revision("finetune"),
        }

    def states(self, name: str) -> Any:
        """Return the recipe for an encoder's hidden states (rule represent_encoder)."""
        alignment, codes = self.study.alignment, self.study.models[name].languages
        read = [self("corpus", codes[0], "wiki"), *alignment.word_options()] if alignment.text(name) else None
        return {
            "encoder": self("model", name),
            "parallel": {code: self("parallel", code) for code in codes},
            "tests": {other: self("tatoeba", self.study.source, other) for other in alignment.test_sets(name)},
            "words": read,
            "revision": self.revision("align"),
        }

    def analysis(self, job: str) -> Any:
        """Return the recipe for an analysis (rules translate_words, retrieve_sentences and compare_encoders)."""
        alignment, name = self.study.alignment, analysis_of(job)
        source, codes = self.study.source, [self.study.source, *alignment.compared_languages(job)]
        if name == "words":
            sizes, ends = alignment.word_options()
            texts = {code: self("corpus", code, "wiki") for code in codes}
            judges = {code: self("translations", source, code) for code in codes[1:]}
            material: Any = {"texts": texts, "judges": judges, "sizes": sizes, "ends": ends}
        else:
            material = {code: self("parallel", code) for code in codes}
            if name == "sentences":
                material = {"tests": {code: self("tatoeba", source, code) for code in codes[1:]}, "parallel": material}
        return {
            "analysis": name,
            "source": source,
            "encoders": {encoder: self("model", encoder) for encoder in alignment.compared(job)},
            "material": material,
            "revision": self.revision("align", *(["cka"] if name == "cka" else [])),
        }

    def contextual(self, name: str) -> Any:
        """Return the recipe for one transfer through aligned layers, Figures 5 and 8 (rule transfer_contextual)."""
        own = self.study.contextual
        job, kind = own.jobs[name], "untrained" if own.jobs[name].untrained else "model"
        options = [without_added(self.config["align"]["contextual"]), self.config["tasks"]["parsing"]["biaffine"]]
        data = {key: self.prepared(files) for key, files in own.data(name).items()}
        return {
            "encoders": {code: self(kind, encoder) for code, encoder in job.models.items()},
            "parallel": {code: self("parallel", code) for code in job.models},
            "data": data,
            "options": [*(json.dumps(one, sort_keys=True) for one in options), job.ways, job.untrained, job.seed],
            "revision": self.revision("contextual", "align", "finetune"),
        }

    def verdicts(self) -> Any:
        """Return the recipe for the verdicts (rule claims): the hashes of all results that the claims are judged on."""
        study = self.study
        return {
            "transfer": study.transfer.plan() if study.transfer.models else None,
            "alignment": {job: self("analysis", job) for job in study.alignment.jobs},
            "contextual": {name: self("contextual", name) for name in study.contextual.jobs},
            "scale": study.scale_flag(),
            "revision": self.revision("report"),
        }
