"""Section 5 of the paper, Figures 4 to 8: the encoders to compare, the texts that they read, and the jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from workflow_scripts.files import data_paths
from workflow_scripts.flags import named_flags
from workflow_scripts.grid import MONO, OWN, Model, split_languages

if TYPE_CHECKING:
    from workflow_scripts.study import Study

DEFAULT, OF_A_COPY, FLOOR = "default", "sep-emb", "untrained"
TASKS = ("ner", "parsing")  # of Figures 5 and 8
PARALLEL = "parallel"
RECORDS_OF = {"words": ["figure4a", "figure4b"], "sentences": ["figure6"], "cka": ["figure7", "cka_matrix"]}


@dataclass(frozen=True)
class Alignment:
    """Figures 4, 6 and 7: their analyses (words, sentences, cka) and the models they compare.

    There is one job for each analysis and seed, and it is named after them, for example words.s1.
    """

    study: "Study"

    def languages(self, analysis: str) -> list[str]:
        """Return the languages with the data of an analysis: a dictionary for `words`, a test set for `sentences`."""
        if analysis == "cka":
            return self.study.compared
        own = [code for code in self.study.compared if code in self.study.originals]  # copies are left out
        if analysis == "sentences":
            return [code for code in own if self.study.tatoeba_sides(code)]
        return [code for code in own if self.study.language(code).get("muse")]

    @cached_property
    def jobs(self) -> list[str]:
        """The jobs that have encoders to compare."""
        seeds = sorted({model.seed for model in self.study.models.values()})
        return [job for analysis in RECORDS_OF for seed in seeds if self.compared(job := f"{analysis}.s{seed}")]

    @cached_property
    def jobs_of(self) -> dict[str, list[str]]:
        """The jobs of each analysis that has any."""
        return {name: list(jobs) for name, jobs in groupby(self.jobs, key=analysis_of)}

    @cached_property
    def records(self) -> list[str]:
        """Names of the record files that the analyses produce."""
        return [record for name in self.jobs_of for record in RECORDS_OF[name]]

    @cached_property
    def encoders(self) -> list[str]:
        """The models whose hidden states are computed: all monolingual models, and the bilingual models of Figure 7."""
        if not self.jobs:
            return []
        alone = [name for name in self.study.models if self._own_language(name)]
        return alone + [model.name for code in self.study.compared for model in self._bilingual(code)]

    def states(self, model: str) -> Path:
        """Return the folder of an encoder's hidden states."""
        return self.study.results / f"states/{model}"

    def compared(self, job: str) -> dict[str, Path]:
        """Return the states.json of each encoder that a job compares; bilingual ones are only in cka (Figure 7)."""
        found = [name for code in self.compared_languages(job) for name in self._compared(code, job)]
        return {name: self.states(name) / "states.json" for name in found}

    def compared_languages(self, job: str) -> list[str]:
        """Return the languages of a job's analysis that have models with its seed."""
        return [code for code in self.languages(analysis_of(job)) if self._compared(code, job)]

    def expected_states(self, job: str) -> str:
        """Return the arguments of `workflow_scripts.expect`: each states.json with the hash that it must have."""
        files = self.compared(job).items()
        return " ".join(quote(f"{path}={self.study.identity('states', model)}") for model, path in files)

    def sentences(self, model: str) -> dict[str, Path]:
        """Return the sentence files that an encoder reads; a key such as parallel:en names the set and the language."""
        languages = self.study.models[model].languages
        parallel = {f"{PARALLEL}:{code}": self.study.parallel(code) for code in languages}
        tests = {other: self.tatoeba(other)[languages[0] == other] for other in self.test_sets(model)}
        return parallel | {f"tatoeba-{other}:{languages[0]}": path for other, path in tests.items()}

    def test_sets(self, model: str) -> list[str]:
        """Return the languages whose test sets a model reads.

        The source language's monolingual model reads all of them, other monolingual models only that of their own
        language, and bilingual models none.
        """
        code = self._own_language(model)
        return [other for other in self.languages("sentences") if code in (self.study.source, other)]

    def text(self, model: str) -> Path | None:
        """Return the text from which an encoder computes word vectors, or None."""
        code, targets = self._own_language(model), self.languages("words")
        return self.study.corpus(code, "wiki") if code and targets and code in (self.study.source, *targets) else None

    def tatoeba(self, code: str) -> tuple[Path, Path]:
        """Return the tokenised files of a language's test set, the source language first."""
        folder = self.study.results / f"tatoeba/{self.study.source}-{code}"
        return folder / "source.txt", folder / "target.txt"

    def raw_tatoeba(self, code: str) -> dict[str, str]:
        """Return the published files of a language's test set, the source language first."""
        sides = self.study.tatoeba_sides(code)
        return {side: self.study.raw(sides[side]) for side in ("source", "target")}

    def files(self, model: str) -> list[Path]:
        """Return every text that an encoder reads."""
        text = self.text(model)
        return [*self.sentences(model).values(), *([text] if text else [])]

    def flags(self, model: str) -> str:
        """Return flags of xling.align.represent_encoder: texts, and whether an untrained encoder reads them too."""
        parts, text = [named_flags("--sentences", self.sentences(model))], self.text(model)
        if text:
            (lines, words), ends = self.word_options()
            parts.append(f"--text {quote(str(text))} --lines {lines} --words {words}")
            parts += ["--sentence-ends"] if ends else []
        return " ".join([*parts, *(["--untrained"] if self._own_language(model) else [])])

    def word_options(self) -> tuple[list[int], bool]:
        """Return how many lines to read and how many words to keep, and whether `</s>` ends sentences within a line."""
        config = self.study.config
        sizes = [config["align"][key] for key in ("word_sentences", "word_vocabulary")]
        return sizes, config["bpe"]["sentence_ends"]

    def raw_words(self, job: str) -> list[str]:
        """Return the dictionaries and published vectors that are used to evaluate word translation."""
        plans, own = map(self._words, self.compared_languages(job)), self.own_vectors(job)
        paths = [path for plan in plans for path in (plan["train"], plan["test"], *(plan["vectors"] or {}).values())]
        return [path for path in dict.fromkeys(paths) if path not in own]

    def own_vectors(self, job: str) -> list[str]:
        """Return the vectors that are trained on the study's own text."""
        used = [self._words(code)["vectors"] or {} for code in self.compared_languages(job)]
        own = {path: str(self.trained_vectors(code)) for vectors in used for code, path in vectors.items()}
        return [path for path, trained in own.items() if path == trained]

    def with_own_vectors(self, jobs: Sequence[str]) -> list[str]:
        """Return the languages of some jobs that are compared by vectors of the study's own, on one side at least."""
        own = {path for job in jobs for path in self.own_vectors(job)}
        codes = dict.fromkeys(code for job in jobs for code in self.compared_languages(job))
        return [code for code in codes if own & {*(self._words(code)["vectors"] or {}).values()}]

    def trained_vectors(self, code: str) -> Path:
        """Return the file of the vectors that are trained on a language's text."""
        return self.study.results / f"vectors/{code}.vec"

    def plan(self, job: str) -> dict[str, Any]:
        """Return the comparisons and inputs of a job, and the hash to store in its result."""
        analysis, config = analysis_of(job), self.study.identity("analysis", job)
        about = {"source": self.study.source, "seed": seed_of(job), "config": config}
        codes = self.compared_languages(job)
        if analysis == "cka":
            rows = [row for code in codes for row in self._columns(code, job)]
            return about | {"set": PARALLEL, "comparisons": rows}
        languages = {}
        for code in codes:
            read = self._words(code) if analysis == "words" else {"fit": PARALLEL, "test": f"tatoeba-{code}"}
            folders = {c: str(self.states(name)) for c, name in self._encoders(code, job)[1].items()}
            languages[code] = {"states": folders} | read
        return about | {"languages": languages}

    def _words(self, code: str) -> dict[str, Any]:
        language, codes = self.study.language(code), (self.study.source, code)
        given = {c: path for c in codes if (path := self.study.language(c).get("vectors"))}
        vectors = {c: str(self.trained_vectors(c)) if p == OWN else self.study.raw(p) for c, p in given.items()}
        return {
            **{split: self.study.raw(language["muse"][split]) for split in ("train", "test")},
            "vectors": vectors if len(vectors) == len(codes) else None,
            "tokenisers": {c: self.study.tokeniser(c) for c in codes},
        }

    def _columns(self, code: str, job: str) -> list[dict[str, Any]]:
        """Return the comparisons of a pair for Figure 7; in `random`, only the second encoder is untrained."""
        source, (both, alone) = self.study.source, self._encoders(code, job)
        one = {source: both, code: both} if both else {}
        columns = {"bilingual": (one, "trained"), "monolingual": (alone, "trained"), "random": (alone, "untrained")}
        rows = []
        for model, (names, kind) in columns.items():
            kinds = {source: "trained", code: kind}
            sides = [{"folder": str(self.states(names[c])), "kind": kinds[c], "language": c} for c in names]
            rows += [{"pair": f"{source}-{self.shown(code)}", "model": model, "sides": sides}] if sides else []
        return rows

    def _compared(self, code: str, job: str) -> list[str]:
        both, alone = self._encoders(code, job)
        return [*([both] if both and analysis_of(job) == "cka" else []), *alone.values()]

    def _encoders(self, code: str, job: str) -> tuple[str | None, dict[str, str]]:
        """Return a pair's bilingual model (or None) and its two monolingual models (or {}), all of a job's seed."""
        both = [model.name for model in self._bilingual(code) if model.seed == seed_of(job)]
        groups = {c: self.study.groups.get(f"{c}.{MONO}", []) for c in (self.study.source, code)}
        alone = {c: model.name for c, models in groups.items() for model in models if model.seed == seed_of(job)}
        return both[0] if both else None, alone if len(alone) == len(groups) else {}

    def _bilingual(self, code: str) -> list[Model]:
        """Return a pair's bilingual model for each seed: Default, or Sep Emb if the language is a copy."""
        setting = DEFAULT if self.study.original(code) == code else OF_A_COPY
        return self.study.groups.get(f"{self.study.source}-{code}.{setting}", [])

    def shown(self, code: str) -> str:
        """Return the name of a language in figures: a copy of English is en'."""
        original = self.study.original(code)
        return code if original == code else f"{original}'"

    def _own_language(self, model: str) -> str | None:
        """Return the language of a monolingual model, or None for a bilingual model."""
        own = self.study.models[model]
        return own.languages[0] if own.setting == MONO else None


def analysis_of(job: str) -> str:
    """Return the analysis of a job: words, sentences or cka."""
    return job.split(".")[0]


def seed_of(job: str) -> int:
    """Return the seed of a job's models."""
    return int(job.split(".s")[1])


@dataclass(frozen=True)
class Job:
    """A source encoder, and the encoder of each language that is tested; `models` has the source language first."""

    name: str
    seed: int
    models: dict[str, str]
    ways: tuple[str, ...]
    untrained: bool = False

    @property
    def targets(self) -> list[str]:
        """The languages that are tested, except the source language."""
        return list(self.models)[1:]


@dataclass(frozen=True)
class Contextual:
    """Figures 5 and 8: transfer from the source language's monolingual model to others, and within Default models."""

    study: "Study"

    @cached_property
    def jobs(self) -> dict[str, Job]:
        """All jobs by name; empty if the study lacks the models or the tasks.

        Monolingual encoders are tested only with a map, Default models with and without one. Each has a floor: the same
        encoder, untrained.
        """
        source, found = self.study.source, []
        for seed in self.study.config["study"]["seeds"] if self.targets() and self.tasks() else []:
            alone = {code: f"{code}.{MONO}.s{seed}" for code in (source, *self.targets())}
            encoders: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {source: (alone, ("aligned",))}
            for code in self.targets():
                model = f"{source}-{code}.{DEFAULT}.s{seed}"
                if model in self.study.models:
                    encoders[f"{source}-{code}"] = {source: model, code: model}, ("plain", "aligned")
            for pair, (models, ways) in encoders.items():
                found.append(Job(models[source], seed, models, ways))
                found.append(Job(f"{pair}.{FLOOR}.s{seed}", seed, models, ways, untrained=True))
        return {job.name: job for job in found}

    def targets(self) -> list[str]:
        """Return the target languages of Table 1 that have monolingual models."""
        columns = [split_languages(pair)[1] for pair in self.study.config["study"]["pairs"]]
        return [code for code in columns if code in self.study.compared]

    def tasks(self) -> list[str]:
        """Return the study's tasks that these figures show."""
        return [task for task in TASKS if task in self.study.config["study"]["tasks"]]

    def data(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the data sets of a job; each entry has one training set and all test sets that go with it."""
        sets: dict[str, dict[str, Any]] = {}
        for task in self.tasks():
            for code in self.jobs[name].targets:
                data = {"task": task, **self.study.task_data(task, f"{self.study.source}-{code}")}
                key = f"{task}.{Path(data['train']).name.split('.')[1]}"
                sets.setdefault(key, data)["test"][code] = data["test"][code]
        return sets

    def results(self) -> dict[str, Path]:
        """Return the result file of every job."""
        return {name: self.study.results / f"contextual/{name}.json" for name in self.jobs}

    def records(self) -> list[Path]:
        """Return the records of Figures 5 and 8, or an empty list if there are no jobs."""
        return [self.study.results / f"records/figure{number}.csv" for number in (5, 8)] if self.jobs else []

    def model_files(self, name: str) -> list[Path]:
        """Return the encoder files that a job reads."""
        return self.study.encoder_files(self.jobs[name].models.values(), self.jobs[name].untrained)

    def expected(self, name: str) -> str:
        """Return the arguments of `workflow_scripts.expect`: each encoder file of a job with the hash it must have."""
        return self.study.expected(self.jobs[name].models.values(), self.jobs[name].untrained)

    def texts(self, name: str) -> list[str]:
        """Return every vocabulary, parallel text, word-alignment and task file that a job reads."""
        plan = self.plan(name)
        found = []
        for files in plan["languages"].values():
            found += [f"{files['vocab']}/vocab.json", *(files[key] for key in ("parallel", "links") if key in files)]
        return found + [path for data in plan["data"].values() for path in data_paths(data)]

    @property
    def revision(self) -> list[int]:
        """The code revisions of the three stages that these results depend on."""
        return self.study.identity.revision("contextual", "align", "finetune")

    def plan(self, name: str) -> dict[str, Any]:
        """Return the inputs and options of a job, and the hash to store in its result."""
        job, languages = self.jobs[name], {}
        for code, model in job.models.items():
            folders = {"encoder": self.study.model_file(model).parent, "vocab": self.study.vocabulary_folder(model)}
            pair = f"{self.study.source}-{code}"
            links = {"links": self.study.results / f"links/{pair}.txt.zst"} if code in job.targets else {}
            read = folders | {"parallel": self.study.parallel(code)} | links
            languages[code] = {key: str(path) for key, path in read.items()}
        return {
            "name": name,
            "source": self.study.source,
            "languages": languages,
            "untrained": job.untrained,
            "ways": job.ways,
            "options": self.study.config["align"]["contextual"],
            "biaffine": self.study.config["tasks"]["parsing"]["biaffine"],
            "data": self.data(name),
            "seed": job.seed,
            "config": self.study.identity("contextual", name),
        }
