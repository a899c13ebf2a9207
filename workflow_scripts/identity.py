"""The stages of a study in one table: what each product depends on, and its hash.

A recipe returns everything that decides one product: the revision of its code, the values it takes from the config, and
the hashes of what it reads. So the hash of a final result depends on every value that affects it. Locations of files
(study.results, data.root) and the division of work into jobs are left out, because they do not affect results. The
docstring of a recipe names the rules that it covers.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow_scripts.files import data_paths
from workflow_scripts.grid import OWN, domain_in, parts_of, without_added
from xling.core.results import hashed, untrained_parts

if TYPE_CHECKING:
    from workflow_scripts.study import Study

TASK_SIZES = {"nli": "nli_pairs", "ner": "ner_sentences", "parsing": "treebank_sentences"}


class Identity:
    """The hashes of a study's products: identity("corpus", "fr", "wiki")."""

    def __init__(self, study: "Study") -> None:
        self.study, self.config = study, study.config
        self._known: dict[tuple[str, ...], str] = {}

    def __call__(self, stage: str, *key: str) -> str:
        """Return the hash of one product of a stage."""
        known = (stage, *key)
        if known not in self._known:
            self._known[known] = hashed(STAGES[stage](self, *key))
        return self._known[known]

    def revision(self, *stages: str) -> list[int]:
        """Return the revisions of the code of some stages (REV in rules/common.smk)."""
        return [self.study.revisions.get(stage, 0) for stage in stages]

    def raw(self, path: str, codes: Iterable[str], sizes: Iterable[str] = ()) -> dict[str, Any]:
        """Return what identifies a raw file: its path, its origin, and the generator's settings if it is generated.

        `codes` are the languages whose traits affect the part that is read, `sizes` the generator's sizes that do so.
        """
        about: dict[str, Any] = {"path": path, "origin": self.config["data"]["origin"]}
        if not self.study.generated:
            return about
        made = self.config["synthetic"]
        numbers = {key: made[key] for key in ("world_seed", "seed", *sizes)}
        traits = {code: made["languages"][code] for code in {self.study.original(code) for code in codes}}
        return about | {"traits": traits, "revision": self.revision("synthetic"), **numbers}

    def tokeniser(self, code: str) -> dict[str, Any]:
        """Return what decides how text is split into words; a segmenter's dictionary enters by its origin."""
        options, path = self.study.tokeniser(code), self.study.language(code).get("segmenter_dictionary")
        data = {"data": self.raw(path, [code]) if path else None, "revision": self.revision("tokenization")}
        return {key: value for key, value in options.items() if key not in ("dictionary", "stanford_home")} | data

    def prepared(self, data: Mapping[str, Any]) -> list[str]:
        """Return the hashes of a task's files, which are named as tasks/ner/fr.wikiann.test.jsonl."""
        paths = map(Path, data_paths(data))
        return [self("task", path.parent.name, *path.stem.split(".")) for path in paths]

    def tokenisers(self, *codes: str) -> list[dict[str, Any]]:
        """Return `tokeniser` for several languages."""
        return [self.tokeniser(code) for code in codes]


def words(made: Identity, code: str, domain: str) -> Any:
    """extract_text, tokenise_text."""
    source, original = made.study.language(code)["text"][domain], made.study.original(code)
    raw = [made.raw(path, [original], [f"{domain}_sentences"]) for path in source["files"]]
    least, margin = made.config["text"]["min_characters"], made.study.thinned_to(code, domain)
    thinned = [] if margin is None else [margin, made("words", original, "wiki")]  # the key was added later
    return [made.revision("data"), source["format"], least, raw, made.tokeniser(original), *thinned]


def corpus(made: Identity, code: str, domain: str) -> Any:
    """split_corpus."""
    text, original = made.config["text"], made.study.original(code)
    held_out = [text["valid_lines"], text["test_lines"]]
    trimmed = [made("words", original, other) for other in made.study.trimmed_to(code, domain)]
    order = None if code == original else code
    return [made.revision("tokenization"), made("words", original, domain), held_out, trimmed, order]


def vocabulary(made: Identity, name: str) -> Any:
    """train_bpe and build_vocabulary, for a vocabulary such as en-fr.joint.wiki."""
    codes, kind, domain = parts_of(name)
    bpe = made.config["bpe"]
    texts = [made("corpus", code, domain_in(codes, domain, code)) for code in codes]
    merges = bpe["joint_merges" if kind == "joint" else "language_merges"]
    sample = [bpe[key] for key in ("train_lines", "balance") if key in without_added(bpe)]
    return [made.revision("bpe"), kind, codes, texts, merges, *sample]


def stream(made: Identity, path: str) -> Any:
    """encode_text and the numbers that a vocabulary gives the pieces: the ids of en-fr.joint.wiki/fr.switched."""
    name, _, text = path.partition("/")
    code, _, variant = text.partition(".")
    codes, _, domain = parts_of(name)
    texts = [made("corpus", code, domain_in(codes, domain, code))]
    texts += [made("switched", "-".join(codes), domain, code)] if variant == "switched" else []
    return [made.revision("bpe"), made("vocabulary", name), code, texts, made.config["bpe"]["sentence_ends"]]


def switched(made: Identity, pair: str, domain: str, code: str) -> Any:
    """switch_codes."""
    text = made("corpus", code, domain_in(pair.split("-"), domain, code))
    options = [made.config["codeswitch"], made.config["text"]["lowercase"]]
    return [made.revision("codeswitch"), text, made("dictionary", pair), options]


def dictionary(made: Identity, pair: str) -> Any:
    """build_dictionary; a generated one depends on all languages of the study, whose words are chosen together."""
    codes = pair.split("-")
    entries = [made.study.language(code).get("dictionary", {}) for code in codes]
    raw = made.raw(entries[1]["path"], made.study.originals, ["dictionary_share"])
    names = [entry.get("code") for entry in entries]
    return [made.revision("data"), entries[1]["format"], raw, names, made.tokenisers(*codes)]


def model(made: Identity, name: str) -> Any:
    """pretrain: everything in the model's run.json, which holds the hashes of its vocabulary and its streams."""
    return [made.revision("pretrain"), made.study.run(name)]


def untrained(made: Identity, name: str) -> Any:
    """An encoder that is initialised and not trained; of its pretraining options only the sequence length matters."""
    return [made.revision("pretrain"), *untrained_parts(made.study.transfer.run(name))]


def task(made: Identity, kind: str, code: str, dataset: str, split: str) -> Any:
    """prepare_task."""
    form, paths = made.study.task_files[kind][code, dataset, split]
    names = [Path(path).relative_to(made.study.root).as_posix() for path in paths]
    first, *more = [made.raw(name, [code], [TASK_SIZES[kind]]) for name in names]
    return [form, first, made.tokeniser(code), split, *more]


def parallel(made: Identity, code: str) -> Any:
    """prepare_parallel."""
    side = made.study.parallel_side(code)
    path = made.study.parallel_sides[side] or made.config["data"]["parallel"]
    return [side, made.raw(path, [side], ["parallel_sentences"]), made.tokeniser(side)]


def tatoeba(made: Identity, source: str, code: str) -> Any:
    """prepare_tatoeba, both sides of a test set."""
    names = [made.study.language(one).get("tatoeba") for one in (source, code)]
    raw = made.raw(made.config["data"]["tatoeba"], [source, code], ["tatoeba_sentences"])
    return [names, raw, *made.tokenisers(source, code)]


def translations(made: Identity, source: str, code: str) -> Any:
    """The word pairs and vectors that word translation is evaluated with."""
    codes = [source, code]
    pairs = {split: made.raw(path, codes) for split, path in made.study.language(code)["muse"].items()}
    paths = {one: made.study.language(one).get("vectors") for one in codes}
    vectors = {c: made("vectors", c) if p == OWN else made.raw(p, [c]) for c, p in paths.items() if p}
    return [pairs, vectors, *made.tokenisers(*codes)]


def vectors(made: Identity, code: str) -> Any:
    """train_vectors."""
    return [made.revision("align"), made("corpus", code, "wiki"), made.config["align"]["own_vectors"]]


def score(made: Identity, encoder: str, name: str) -> Any:
    """fine_tune: one encoder in one task."""
    transfer = made.study.transfer
    return {
        "encoder": made("untrained" if encoder in transfer.floors else "model", encoder),
        "seed": transfer.encoders[encoder].seed,
        "data": made.prepared(transfer.data(encoder, name)),
        "task": name,
        "settings": made.config["tasks"][name],
        "revision": made.revision("finetune"),
    }


def states(made: Identity, name: str) -> Any:
    """represent_encoder."""
    alignment, codes = made.study.alignment, made.study.models[name].languages
    read = [made("corpus", codes[0], "wiki"), *alignment.word_options()] if alignment.text(name) else None
    return {
        "encoder": made("model", name),
        "parallel": {code: made("parallel", code) for code in codes},
        "tests": {other: made("tatoeba", made.study.source, other) for other in alignment.test_sets(name)},
        "words": read,
        "revision": made.revision("align"),
    }


def analysis(made: Identity, name: str) -> Any:
    """translate_words, retrieve_sentences, compare_encoders."""
    alignment = made.study.alignment
    source, codes = made.study.source, [made.study.source, *alignment.languages(name)]
    if name == "words":
        sizes, ends = alignment.word_options()
        texts = {code: made("corpus", code, "wiki") for code in codes}
        judges = {code: made("translations", source, code) for code in codes[1:]}
        material: Any = {"texts": texts, "judges": judges, "sizes": sizes, "ends": ends}
    else:
        material = {code: made("parallel", code) for code in codes}
        if name == "sentences":
            material = {"tests": {code: made("tatoeba", source, code) for code in codes[1:]}, "parallel": material}
    return {
        "analysis": name,
        "source": source,
        "encoders": {encoder: made("model", encoder) for encoder in alignment.compared(name)},
        "material": material,
        "revision": made.revision("align", *(["cka"] if name == "cka" else [])),
    }


def contextual(made: Identity, name: str) -> Any:
    """transfer_contextual."""
    own = made.study.contextual
    job, kind = own.jobs[name], "untrained" if own.jobs[name].untrained else "model"
    options = [made.config["align"]["contextual"], made.config["tasks"]["parsing"]["biaffine"]]
    data = {key: made.prepared(files) for key, files in own.data(name).items()}
    return {
        "encoders": {code: made(kind, encoder) for code, encoder in job.models.items()},
        "parallel": {code: made("parallel", code) for code in job.models},
        "data": data,
        "options": [*(json.dumps(one, sort_keys=True) for one in options), job.ways, job.untrained, job.seed],
        "revision": made.revision("contextual", "align", "finetune"),
    }


def verdicts(made: Identity) -> Any:
    """claims: the hashes of all results that the claims are judged on."""
    study = made.study
    return {
        "transfer": study.transfer.plan() if study.transfer.models else None,
        "alignment": {name: made("analysis", name) for name in study.alignment.analyses},
        "contextual": {name: made("contextual", name) for name in study.contextual.jobs},
        "scale": study.scale_flag(),
        "revision": made.revision("report"),
    }


STAGES: dict[str, Callable[..., Any]] = {
    recipe.__name__: recipe
    for recipe in (
        *(words, corpus, vocabulary, stream, switched, dictionary, model, untrained, task, parallel, tatoeba),
        *(translations, vectors, score, states, analysis, contextual, verdicts),
    )
}
