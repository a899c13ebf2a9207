"""Figures 4, 6 and 7 of a study: which encoders are represented on what, and which are compared (section 5)."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

from workflow_scripts.flags import expected_run, named_flags, tokeniser_options
from workflow_scripts.grid import MONO
from workflow_scripts.identity import hashed
from workflow_scripts.study import Study

DEFAULT, OF_A_COPY = "default", "sep-emb"
TRAINED, UNTRAINED = "trained", "untrained"
PARALLEL = "parallel"
RECORDS = {"words": ["figure4a", "figure4b"], "sentences": ["figure6"], "cka": ["figure7", "cka_matrix"]}


@dataclass(frozen=True)
class Alignment:
    """What of the three analyses a study can make, and from which of its models."""

    study: Study

    @cached_property
    def source(self) -> str:
        """The language that all others are compared with."""
        return str(self.study.config["study"]["source"])

    @cached_property
    def targets(self) -> list[str]:
        """Languages that have a monolingual model beside the source's, if that has one."""
        alone = self.study.config["study"]["languages"]
        return [code for code in alone if code != self.source] if self.source in alone else []

    @cached_property
    def word_targets(self) -> list[str]:
        """Languages with a dictionary from the source."""
        return [code for code in self._others if self.study.language(code).get("muse")]

    @cached_property
    def sentence_targets(self) -> list[str]:
        """Languages with sentences to retrieve."""
        both = self.study.language(self.source).get("tatoeba")
        return [code for code in self._others if both and self.study.language(code).get("tatoeba")]

    @property
    def _others(self) -> list[str]:
        return [code for code in self.targets if self.study.original(code) == code]

    @cached_property
    def analyses(self) -> list[str]:
        """The analyses that there is something for."""
        there = {"words": self.word_targets, "sentences": self.sentence_targets, "cka": self.targets}
        return [name for name, targets in there.items() if targets]

    @cached_property
    def records(self) -> list[str]:
        """Names of the record files that the analyses end in."""
        names = [record for name in self.analyses for record in RECORDS[name]]
        return names + (["pearson"] if {"sentences", "cka"} <= set(self.analyses) else [])

    @cached_property
    def encoders(self) -> list[str]:
        """The models that are represented: all monolingual ones, and the bilingual ones that Figure 7 shows."""
        if not self.analyses:
            return []
        codes = {self.source, *self.targets}
        alone = [name for name in self.study.trained if self._is_mono(name) and self._codes(name)[0] in codes]
        return alone + [name for code in self.targets for name in self._bilingual(code)]

    def states(self, model: str) -> Path:
        """Return the folder of an encoder's states."""
        return self.study.results / f"states/{model}"

    def represented(self, analysis: str) -> list[Path]:
        """Return the files that stand for the states of the encoders that an analysis compares."""
        return [self.states(model) / "states.json" for model in self.compared(analysis)]

    def compared(self, analysis: str) -> list[str]:
        """Return the encoders that an analysis reads, from its plan: bilingual ones are in Figure 7 alone."""
        plan = self._plan(analysis)
        seeds = [seed for row in plan.get("comparisons", plan.get("languages", {}).values()) for seed in row["seeds"]]
        folders = [side["folder"] for sides in seeds for side in sides] if analysis == "cka" else _values(seeds)
        return list(dict.fromkeys(Path(folder).name for folder in folders))

    def sentences(self, model: str) -> dict[str, Path]:
        """Return the sentences that an encoder reads, by set and language as parallel:en."""
        code, sets = self._codes(model)[0], self._test_sets(model)
        parallel = {f"{PARALLEL}:{own}": self._parallel(own) for own in self._codes(model)}
        return parallel | {f"tatoeba-{other}:{code}": self.tatoeba(other)[code == other] for other in sets}

    def _test_sets(self, model: str) -> list[str]:
        """Return the languages whose test sets a model reads: the source's all, another one its own."""
        code = self._codes(model)[0]
        return [c for c in self.sentence_targets if self._is_mono(model) and code in (self.source, c)]

    def text(self, model: str) -> Path | None:
        """Return the text whose words an encoder represents, if any."""
        code = self._codes(model)[0]
        wanted = self._is_mono(model) and self.word_targets and code in (self.source, *self.word_targets)
        return self.study.results / f"corpus/{code}.wiki/train.txt.zst" if wanted else None

    def tatoeba(self, code: str) -> tuple[Path, Path]:
        """Return both sides of a language's test set as words, the source first."""
        folder = self.study.results / f"tatoeba/{self.source}-{code}"
        return folder / "source.txt", folder / "target.txt"

    def raw_tatoeba(self, code: str) -> dict[str, str]:
        """Return both sides of a language's test set as published."""
        names = {side: self.study.language(c)["tatoeba"] for side, c in (("source", self.source), ("target", code))}
        stem = f"{self.study.config['data']['tatoeba']}/tatoeba.{names['target']}-{names['source']}"
        return {side: self.study.raw(f"{stem}.{name}") for side, name in names.items()}

    def tatoeba_flags(self, code: str) -> str:
        """Return the flags that say where both sides of a test set are and how they are tokenised."""
        options = {"source": tokeniser_options(self.study, self.source), "target": tokeniser_options(self.study, code)}
        return f"{named_flags('--file', self.raw_tatoeba(code))} {named_flags('--tokeniser', options)}"

    def files(self, model: str) -> list[Path]:
        """Return every text that an encoder reads."""
        text = self.text(model)
        return [*self.sentences(model).values(), *([text] if text else [])]

    def flags(self, model: str) -> str:
        """Return the flags that say what an encoder represents."""
        options, text = self.study.config["align"], self.text(model)
        parts = [f"--sentences {quote(f'{name}={path}')}" for name, path in self.sentences(model).items()]
        if text:
            parts.append(f"--text {quote(str(text))}")
            parts.append(f"--lines {options['word_sentences']} --words {options['word_vocabulary']}")
            parts += ["--sentence-ends"] if self.study.config["bpe"]["sentence_ends"] else []
        return " ".join([*parts, *(["--untrained"] if self._is_mono(model) else [])])

    def expected_encoder(self, model: str) -> str:
        """Return what a model must be that is represented."""
        return expected_run(self.study.results / f"models/{model}/run.json", self.study.run(model), drawn=False)

    def expected_states(self, analysis: str) -> str:
        """Return what the states must be that an analysis compares."""
        files = {model: self.states(model) / "states.json" for model in self.compared(analysis)}
        return " ".join(f"--made {quote(f'{path}={self.states_hash(model)}')}" for model, path in files.items())

    def states_hash(self, model: str) -> str:
        """Return the hash that states carry: of the encoder, what it reads and how its words are chosen."""
        known, code = self.study.identity, self._codes(model)[0]
        decides = {
            "encoder": known.model(model),
            "parallel": {own: known.parallel(own) for own in self._codes(model)},
            "tests": {other: known.tatoeba(self.source, other) for other in self._test_sets(model)},
            "words": [known.corpus(code, "wiki"), *self._word_options()] if self.text(model) else None,
            "revision": known.revision("align"),
        }
        return hashed(decides)

    def raw_words(self) -> list[str]:
        """Return the dictionaries and vectors that words are evaluated with."""
        plans = [self._words(code) for code in self.word_targets]
        paths = [path for plan in plans for path in (plan["train"], plan["test"], *(plan["vectors"] or {}).values())]
        return list(dict.fromkeys(paths))

    def plan(self, analysis: str) -> str:
        """Return what an analysis compares and the hash that its result carries, as JSON."""
        return json.dumps(self._plan(analysis) | {"config": self.config_hash(analysis)}, sort_keys=True)

    def _plan(self, analysis: str) -> dict[str, Any]:
        made: dict[str, Any] = {"source": self.source}
        if analysis == "words":
            made["languages"] = {code: self._words(code) for code in self.word_targets}
        elif analysis == "sentences":
            made["languages"] = {code: self._sentences(code) for code in self.sentence_targets}
        else:
            made |= {"set": PARALLEL, "comparisons": [row for code in self.targets for row in self._comparisons(code)]}
        return made

    def config_hash(self, analysis: str) -> str:
        """Return the hash that a result carries: of the encoders, what they read and what they are judged with."""
        known = self.study.identity
        material = {"words": self._words_known, "sentences": self._sentences_known, "cka": self._parallel_known}
        decides = {
            "analysis": analysis,
            "source": self.source,
            "encoders": {name: known.model(name) for name in self.compared(analysis)},
            "material": material[analysis](),
            "revision": known.revision("align", *(["cka"] if analysis == "cka" else [])),
        }
        return hashed(decides)

    def _words_known(self) -> dict[str, Any]:
        known, (sizes, ends) = self.study.identity, self._word_options()
        texts = {code: known.corpus(code, "wiki") for code in (self.source, *self.word_targets)}
        judges = {code: known.translations(self.source, code) for code in self.word_targets}
        return {"texts": texts, "judges": judges, "sizes": sizes, "ends": ends}

    def _word_options(self) -> tuple[list[int], bool]:
        """Return how many lines are read and words kept, and whether `</s>` ends a sentence within a line."""
        config = self.study.config
        sizes = [config["align"][key] for key in ("word_sentences", "word_vocabulary")]
        return sizes, config["bpe"]["sentence_ends"]

    def _sentences_known(self) -> dict[str, Any]:
        tests = {code: self.study.identity.tatoeba(self.source, code) for code in self.sentence_targets}
        parallel = {code: self.study.identity.parallel(code) for code in (self.source, *self.sentence_targets)}
        return {"tests": tests, "parallel": parallel}

    def _parallel_known(self) -> dict[str, Any]:
        return {code: self.study.identity.parallel(code) for code in (self.source, *self.targets)}

    def collect_flags(self, folder: Path) -> str:
        """Return the flags that name every analysis with the hash that its result must carry."""
        files = {name: folder / f"{name}.json" for name in self.analyses}
        hashes = {name: self.config_hash(name) for name in self.analyses}
        return f"{named_flags('--analysis', files)} {named_flags('--config-hash', hashes)}"

    def _words(self, code: str) -> dict[str, Any]:
        language, codes = self.study.language(code), (self.source, code)
        vectors = {c: self.study.raw(p) for c in codes if (p := self.study.language(c).get("vectors"))}
        return {
            "seeds": self._seeds(code),
            **{split: self.study.raw(language["muse"][split]) for split in ("train", "test")},
            "vectors": vectors if len(vectors) == len(codes) else None,
            "tokenisers": {c: self.study.tokeniser(c) for c in codes},
        }

    def _sentences(self, code: str) -> dict[str, Any]:
        return {"seeds": self._seeds(code), "fit": PARALLEL, "test": f"tatoeba-{code}"}

    def _seeds(self, code: str) -> list[dict[str, str]]:
        """Return for each seed that both languages have the folders of their states."""
        names = [{c: f"{c}.{MONO}.s{seed}" for c in (self.source, code)} for seed in self._numbers(code)]
        return [{c: str(self.states(name)) for c, name in pair.items()} for pair in names]

    def _numbers(self, code: str) -> list[int]:
        seeds = [{self.study.models[name].seed for name in self._alone(c)} for c in (self.source, code)]
        return sorted(seeds[0] & seeds[1])

    def _alone(self, code: str) -> list[str]:
        return [name for name in self.study.trained if self._is_mono(name) and self._codes(name) == (code,)]

    def _comparisons(self, code: str) -> list[dict[str, Any]]:
        """Return the three columns of a pair; the random one has the untrained encoder on the other side only."""
        source, pair = self.source, f"{self.source}-{self.shown(code)}"
        alone = self._seeds(code)
        both = [str(self.states(name)) for name in self._bilingual(code)]
        columns = {
            "bilingual": [[_side(folder, source), _side(folder, code)] for folder in both],
            "monolingual": [[_side(own[source], source), _side(own[code], code)] for own in alone],
            "random": [[_side(own[source], source), _side(own[code], code, UNTRAINED)] for own in alone],
        }
        return [{"pair": pair, "model": model, "seeds": seeds} for model, seeds in columns.items() if seeds]

    def _bilingual(self, code: str) -> list[str]:
        """Return the bilingual models of a pair, one a seed: Default, or for a copy the one with its own embeddings."""
        setting = DEFAULT if self.study.original(code) == code else OF_A_COPY
        models = self.study.models
        return [n for n in self.study.trained if models[n].cell == f"{self.source}-{code}.{setting}"]

    def shown(self, code: str) -> str:
        """Return how a language is written in figures: a second English is en'."""
        original = self.study.original(code)
        return code if original == code else f"{original}'"

    def _parallel(self, code: str) -> Path:
        side = code if code in self.study.parallel_sides else self.study.original(code)
        return self.study.results / f"parallel/{side}.txt"

    def _codes(self, model: str) -> tuple[str, ...]:
        return self.study.models[model].languages

    def _is_mono(self, model: str) -> bool:
        return self.study.models[model].setting == MONO


def _values(seeds: list[dict[str, str]]) -> list[str]:
    return [folder for seed in seeds for folder in seed.values()]


def _side(folder: str, language: str, kind: str = TRAINED) -> dict[str, str]:
    return {"folder": folder, "kind": kind, "language": language}
