"""How much text and data a study has: counted where it is there, else what its sources are assumed to hold."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workflow_scripts.grid import vocabulary_kind
from workflow_scripts.plan.rates import Rates
from workflow_scripts.study import Study
from xling.core.io import read_json
from xling.data.manifest import load_manifest

BYTES_OF = {"Cyrillic": "cyrillic", "Han": "han"}  # of a character, by script; one where none is named
XNLI_SENTENCES = 10_000  # of XNLI-15way
ARCHIVES = {".bz2": "text_per_bz2", ".xz": "text_per_xz", ".gz": "text_per_xz", ".zst": "text_per_xz"}


@dataclass(frozen=True)
class Download:
    """What one dataset still has to bring: bytes, and the files whose size nobody knows."""

    known: float
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Sizes:
    """Sizes of one study; all bytes are of uncompressed text."""

    study: Study
    rates: Rates

    def text(self, language: str, domain: str) -> float:
        """Return the bytes of a language's text."""
        original = self.study.original(language)
        counted = self.study.results / f"text/{original}.{domain}.json"
        if counted.is_file():
            return float(read_json(counted)["characters"]) * self.character(language)
        if self.study.generated:
            sentences = self.study.config["synthetic"][f"{domain}_sentences"]
            return float(sentences * self.rates("sentence") * self.character(language))
        return sum(self.raw(path) * self._expansion(path) for path in self.study.raw_text(language, domain))

    def corpus(self, language: str, domain: str) -> float:
        """Return the bytes of a language's training text; web text is trimmed to the encyclopaedia's size."""
        domains = self.study.trimmed_to(language, domain) or [domain]
        return min(self.text(language, name) for name in domains)

    def tokens(self, language: str, domain: str) -> float:
        """Return the subwords of a language's training text."""
        return self.corpus(language, domain) / self.character(language) / self.rates("token")

    def xml(self, language: str, domain: str) -> float:
        """Return the bytes of XML behind a language's text."""
        if self.study.generated:
            return 6 * self.text(language, domain)  # the embedded dumps are mostly markup: 10.3 MB for 1.7 MB of text
        paths = self.study.raw_text(language, domain)
        return sum(self.raw(path) for path in paths) * self.rates("xml_per_bz2")

    def character(self, language: str) -> float:
        """Return the bytes of a character in a language's script."""
        name = BYTES_OF.get(self.study.language(language)["script"])
        return self.rates(name) if name else 1.0

    def raw(self, path: str) -> float:
        """Return the bytes of a raw file, on disk or as assumed of its dataset."""
        file = Path(path)
        if file.is_file():
            return float(file.stat().st_size)
        for dataset in self.study.datasets_of([path]):
            for request in self.study.requests(dataset):
                names = [source.path for source in _files(dataset, request)]
                if str(file.relative_to(self.study.root)) in names:
                    return self._assumed(dataset, request) or 0.0
        return 0.0

    def download(self, dataset: str) -> Download:
        """Return what a dataset's files that are not there yet weigh; what the user has to supply weighs nothing."""
        known, unknown = 0.0, []
        seen: set[str] = set()
        for request in self.study.requests(dataset):
            files = [source for source in _files(dataset, request) if source.urls and source.path not in seen]
            seen |= {source.path for source in files}
            missing = [source for source in files if not (self.study.root / source.path).is_file()]
            assumed = self._assumed(dataset, request)
            for source in missing:
                size = source.size or source.about or (assumed / len(files) if assumed else None)
                known += size or 0.0
                unknown += [source.path] if size is None else []
        return Download(known, tuple(unknown))

    def has_address(self, dataset: str) -> bool:
        """Tell whether a dataset can be fetched at all."""
        return not _manifest()[dataset].ask

    def vocabulary(self, model: str) -> int:
        """Return the most words that one language of a model predicts among: what its softmax costs."""
        bpe, kind = self.study.config["bpe"], vocabulary_kind(self.study.config, self.study.models[model])
        own = int(bpe["language_merges"])
        return {"joint": int(bpe["joint_merges"]), "mono": own, "separate": own}.get(kind, 2 * own)

    def parallel(self) -> float:
        """Return how many parallel sentences there are."""
        return float(self.study.config["synthetic"]["parallel_sentences"] if self.study.generated else XNLI_SENTENCES)

    def lines(self, path: str, task: str, split: str) -> float:
        """Return how many examples a prepared file has, counted if it is there."""
        file = Path(path)
        return float(_count(file, file.stat().st_mtime)) if file.is_file() else self.examples(task, split)

    def examples(self, task: str, split: str) -> float:
        """Return how many examples a split has: an assumption, or the generator's own number."""
        kind = {"pos": "parsing"}.get(task, task)
        raw = Path(self.study.raw(self.study.config["data"]["nli"]["train"]))
        if (kind, split) == ("xnli", "train") and raw.is_file() and not self.study.generated:
            return float(_count(raw, raw.stat().st_mtime)) - 1
        if self.study.generated:
            key = {"xnli": "nli_pairs", "ner": "ner_sentences", "parsing": "treebank_sentences"}[kind]
            return float(self.study.config["synthetic"][key][("train", "dev", "test").index(split)])
        return self.rates(f"{kind}_{split}")

    def _expansion(self, path: str) -> float:
        name = ARCHIVES.get(Path(path).suffix)
        return self.rates(name) if name else 1.0

    def _assumed(self, dataset: str, request: dict[str, Any]) -> float | None:
        entry = self.rates.downloads.get(dataset)
        if isinstance(entry, dict):
            entry = entry.get(request["substitutions"].get("lg"))
        return float(entry) if entry is not None else None


@cache
def _count(path: Path, changed: float) -> int:  # noqa: ARG001 (a changed file is counted anew)
    with path.open("rb") as handle:
        return sum(1 for _ in handle)


@cache
def _manifest() -> dict[str, Any]:
    return dict(load_manifest())


def _files(dataset: str, request: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(_manifest()[dataset].resolve(**request["substitutions"]).files)
