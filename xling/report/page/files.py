"""The files that the page is made from, and links to files that exist in the folder of the page or below it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pandas as pd
import yaml

from xling.report.names import task_title

WORDS: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
SUFFIXES = (".svg", ".pdf", ".png", ".csv", ".md", ".tex")


class Link(NamedTuple):
    """The text and the address of a link."""

    text: str
    href: str


@dataclass(frozen=True)
class Files:
    """The folder of the page, the files that it shows, and other files of the study, which it links to if given."""

    page: Path
    title: str
    claims: Path
    provenance: Path
    tables: Sequence[Path] = ()
    figures: Sequence[Path] = ()
    only: Sequence[str] = ()  # names of the figures to show, if the folders may contain others
    paper_figures: Sequence[Path] = ()
    choices: Sequence[Path] = ()
    logs: Path | None = None
    models: Path | None = None
    scores: Path | None = None
    kept_scores: Path | None = None  # all scores in one file, in a stored study (xling.report.kept)

    def links(self, named: Iterable[tuple[str, Path | None]]) -> list[Link]:
        """Return a link to each file or folder that exists below the folder of the page."""
        found = [Link(text, self.address(path)) for text, path in named if path]
        return [link for link in found if link.href]

    def address(self, path: Path) -> str:
        """Return the address of a path relative to the page; empty if it does not exist below the page's folder."""
        inside = path.exists() and path.resolve().is_relative_to(self.page.resolve())
        return quote(path.resolve().relative_to(self.page.resolve()).as_posix()) if inside else ""

    def of(self, path: Path) -> list[Link]:
        """Return links to a table or figure in all its formats, and to the log of the job that made it."""
        own = [(suffix[1:].upper(), path.with_suffix(suffix)) for suffix in SUFFIXES]
        return self.links([*own, *self.logs_of(path.stem)])

    def logs_of(self, name: str) -> list[tuple[str, Path]]:
        """Return the logs of the jobs with a name, which is that of a rule or of the output of a rule."""
        folders = [self.logs, *sorted(path for path in self.logs.iterdir() if path.is_dir())] if self.logs else []
        found = [path for folder in folders if (path := folder / f"{name}.log").exists()]
        return [("log" if len(found) == 1 else f"{path.parent.name}.log", path) for path in found]

    def of_model(self, model: str) -> list[Link]:
        """Return links to the training curves, the scores and the logs of a model."""
        curves = [("curves", folder / f"training/{model}.svg") for folder in self.figures]
        scores = self.scores / model if self.scores else None
        return self.links([*curves, ("scores", scores), *self.logs_of(model)])

    def of_cells(self, transfer: pd.DataFrame) -> dict[tuple[str, str], str]:
        """Return the address of the score of each cell of Table 1 (first seed), by setting and column heading."""
        found: dict[tuple[str, str], str] = {}
        for row in transfer.itertuples():
            own = self.scores / row.model / f"{row.task}.json" if self.scores else None
            links = self.links([("", own), ("", self.kept_scores)])
            if links:
                found.setdefault((row.setting, f"{task_title(row.task)} {row.language}"), links[0].href)
        return found
