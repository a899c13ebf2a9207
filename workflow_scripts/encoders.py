"""Published encoders named in the config, and what they are compared with on the study's sentences (section 5)."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from workflow_scripts.config import ConfigError, expand_path
from workflow_scripts.grid import pair_languages

if TYPE_CHECKING:
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

    study: "Study"

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
        """Return all results; without any, an error says so, because otherwise nothing would be made in silence."""
        if not self.results:
            raise ConfigError(["encoders.compare: empty, so there is nothing to compare (see docs/share.md)"])
        return list(self.results.values())

    def model_files(self, name: str) -> list[Path]:
        """Return the files of both encoders that must be there; what comes from the hub has none."""
        sides = list(zip(*self.comparisons[name], strict=True))
        tokenisers = [self.study.tokeniser_file(code) for encoder, code in sides if encoder in self.study.models]
        return [path for encoder, _ in sides for path in self._files(encoder)] + tokenisers

    def _files(self, encoder: str) -> list[Path]:
        if encoder in self.study.models:
            own = [self.study.model_file(encoder, file) for file in ("model.safetensors", "run.json")]
            return [*own, self.study.vocabulary_folder(encoder) / "vocab.json"]
        entry = self.published(encoder)
        folder = expand_path(entry["folder"]) if "folder" in entry else None
        return sorted([folder / "config.json", *folder.glob("*.safetensors")]) if folder else []

    def published(self, encoder: str) -> dict[str, Any]:
        """Return what the config says of a published encoder."""
        return dict(self.study.config["encoders"]["models"][encoder])

    def raw_text(self, name: str) -> list[str]:
        """Return the raw sentences that a comparison reads: each encoder cuts them into words in its own way."""
        return [self.study.raw(self.study.config["data"]["parallel"]), *self.retrieved(name)]

    def retrieved(self, name: str) -> list[str]:
        """Return both sides of Tatoeba's set, the left one first; it exists only between the source and another."""
        alignment, (left, right) = self.study.alignment, self.comparisons[name].languages
        source = alignment.source
        other = right if left == source else left
        there = all(self.study.language(code).get("tatoeba") for code in (source, other))
        if source not in (left, right) or left == right or not there:
            return []
        sides = alignment.raw_tatoeba(other)
        return [sides["source" if code == source else "target"] for code in (left, right)]

    def segmenters(self, name: str) -> list[str]:
        """Return what the segmenters of the study's own models read."""
        sides = zip(*self.comparisons[name], strict=True)
        options = [self.study.tokeniser(code) for encoder, code in sides if encoder in self.study.models]
        return sorted({path for option in options for key in ("dictionary", "stanford_home") if (path := option[key])})

    def flags(self, name: str) -> str:
        """Return the command line that names both encoders and the sentences."""
        comparison, (table, *retrieved) = self.comparisons[name], self.raw_text(name)
        parts = [quote(self._name(encoder)) for encoder in comparison.sides]
        parts += ["--languages", *comparison.languages, "--parallel", quote(table)]
        parts += ["--retrieve", *map(quote, retrieved)] if retrieved else []
        for side, encoder, code in zip("ab", *comparison, strict=True):
            if encoder in self.study.models:
                parts += [f"--vocab-{side}", quote(str(self.study.vocabulary_folder(encoder)))]
                parts += [f"--tokeniser-{side}", quote(str(self.study.tokeniser_file(code)))]
        return " ".join(parts)

    def _name(self, encoder: str) -> str:
        if encoder in self.study.models:
            return str(self.study.model_file(encoder).parent)
        entry = self.published(encoder)
        return str(expand_path(entry["folder"])) if "folder" in entry else str(entry["hub"])
