"""Published encoders named in the config, and what they are compared with on the study's sentences (section 5)."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from workflow_scripts.alignment import Alignment
from workflow_scripts.config import ConfigError, expand_path
from workflow_scripts.flags import named_flags
from workflow_scripts.grid import pair_languages
from workflow_scripts.identity import hashed
from workflow_scripts.study import Study


class Comparison(NamedTuple):
    """Two encoders and the language that each of them reads."""

    sides: tuple[str, str]
    languages: tuple[str, ...]

    @property
    def name(self) -> str:
        """The public name, as bert-en+bert-fr.en-fr."""
        return f"{'+'.join(self.sides)}.{'-'.join(self.languages)}"


@dataclass(frozen=True)
class Encoders:
    """What is compared, and the files and flags of each comparison."""

    study: Study

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """Every comparison by name, in the order of the config."""
        listed = [Comparison((a, b), pair_languages(pair)) for a, b, pair in self.study.config["encoders"]["compare"]]
        return {comparison.name: comparison for comparison in listed}

    @cached_property
    def results(self) -> dict[str, Path]:
        """The result of every comparison."""
        return {name: self.study.results / f"encoders/{name}/compare.json" for name in self.comparisons}

    def wanted(self) -> list[Path]:
        """Return all results; that there are none is told, because otherwise nothing would be made in silence."""
        if not self.results:
            raise ConfigError(["encoders.compare: empty, so there is nothing to compare (see docs/share.md)"])
        return list(self.results.values())

    def model_files(self, name: str) -> list[Path]:
        """Return the files of both encoders that must be there; what comes from the hub has none."""
        sides = list(zip(*self.comparisons[name], strict=True))
        tokenisers = [self.tokeniser(code) for encoder, code in sides if encoder in self.study.models]
        return [path for encoder, _ in sides for path in self._files(encoder)] + tokenisers

    def tokeniser(self, code: str) -> Path:
        """Return the file that says how a language is tokenised."""
        return self.study.results / f"tokenisers/{code}.json"

    def _files(self, encoder: str) -> list[Path]:
        if encoder in self.study.models:
            vocabulary = self.study.results / f"vocab/{self.study.vocabulary(encoder)}/vocab.json"
            return [self._own(encoder) / "model.safetensors", self._own(encoder) / "run.json", vocabulary]
        entry = self._published(encoder)
        folder = expand_path(entry["folder"]) if "folder" in entry else None
        return sorted([folder / "config.json", *folder.glob("*.safetensors")]) if folder else []

    def _own(self, encoder: str) -> Path:
        return self.study.results / f"models/{encoder}"

    def _published(self, encoder: str) -> dict[str, Any]:
        return dict(self.study.config["encoders"]["models"][encoder])

    def raw_text(self, name: str) -> list[str]:
        """Return the raw sentences that a comparison reads: each encoder cuts them into words in its own way."""
        return [self._table, *self._retrieved(name)]

    @property
    def _table(self) -> str:
        return self.study.raw(self.study.config["data"]["parallel"])

    def _retrieved(self, name: str) -> list[str]:
        """Return both sides of Tatoeba's set, the left one first; it exists only between the source and another."""
        alignment, (left, right) = Alignment(self.study), self.comparisons[name].languages
        source = alignment.source
        other = right if left == source else left
        if source not in (left, right) or left == right or not self._in_tatoeba(source, other):
            return []
        sides = alignment.raw_tatoeba(other)
        return [sides["source" if code == source else "target"] for code in (left, right)]

    def _in_tatoeba(self, *codes: str) -> bool:
        return all(self.study.language(code).get("tatoeba") for code in codes)

    def segmenters(self, name: str) -> list[str]:
        """Return what the segmenters of the study's own models read."""
        sides = zip(*self.comparisons[name], strict=True)
        options = [self.study.tokeniser(code) for encoder, code in sides if encoder in self.study.models]
        return sorted({path for option in options for key in ("dictionary", "stanford_home") if (path := option[key])})

    def flags(self, name: str) -> str:
        """Return the command line that names both encoders and the sentences."""
        comparison, retrieved = self.comparisons[name], self._retrieved(name)
        parts = [quote(self._name(encoder)) for encoder in comparison.sides]
        parts += ["--languages", *comparison.languages, "--parallel", quote(self._table)]
        parts += ["--retrieve", *map(quote, retrieved)] if retrieved else []
        for side, encoder, code in zip("ab", *comparison, strict=True):
            if encoder in self.study.models:
                vocabulary = self.study.results / f"vocab/{self.study.vocabulary(encoder)}"
                parts += [f"--vocab-{side}", quote(str(vocabulary))]
                parts += [f"--tokeniser-{side}", quote(str(self.tokeniser(code)))]
        return " ".join(parts)

    def _name(self, encoder: str) -> str:
        if encoder in self.study.models:
            return str(self._own(encoder))
        entry = self._published(encoder)
        return str(expand_path(entry["folder"])) if "folder" in entry else str(entry["hub"])

    def config_hash(self, name: str) -> str:
        """Return the hash that a result carries: of both encoders, and of the sentences as each of them reads them."""
        comparison, known, data = self.comparisons[name], self.study.identity, self.study.config["data"]
        paths = {"parallel": data["parallel"]} | ({"tatoeba": data["tatoeba"]} if self._retrieved(name) else {})
        text = {key: known.raw(path, comparison.languages, [f"{key}_sentences"]) for key, path in paths.items()}
        sides = [self._known(encoder, code) for encoder, code in zip(*comparison, strict=True)]
        return hashed([known.revision("align", "cka"), sides, comparison.languages, text])

    def _known(self, encoder: str, code: str) -> Any:
        if encoder in self.study.models:
            return [self.study.identity.model(encoder), self.study.identity.tokeniser(code)]
        return self._published(encoder)

    def drawing_flags(self) -> str:
        """Return the flags that name every result."""
        return named_flags("--comparison", self.results)
