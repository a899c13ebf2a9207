"""Figures on the page: what each is called and shows in words, its picture and its numbers; what was not run."""

import base64
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from xling.report.page.tables import Table, data_table, read_numbers

VERDICTS, FIGURES, TRAINING, ANCHORS = "verdicts", "figures", "training", "anchors"
TYPES = {".svg": "image/svg+xml", ".png": "image/png"}
LARGEST_DRAWING = 400_000  # bytes: beyond it a drawing of many lines is heavier than its picture
MOST_ROWS = 600  # of a figure's numbers: a page is no place for more


@dataclass(frozen=True)
class Entry:
    """A figure, or a family of them by a pattern: its title, and its picture in words for those who cannot see it."""

    pattern: str
    section: str
    title: str
    alt: str
    folded: bool = False  # one of many, which a reader may open


CAPTIONS = {
    VERDICTS: {
        ("forest", "How far each claim is from its border"): "Forest plot, one row for each part of a claim: the mean "
        "over its cells with its 95% interval, the cells as dots, and the paper's value, by their distance from the "
        "border; right of the line the claim holds.",
    },
    FIGURES: {
        ("figure1", "Figure 1. What is shared"): "Schematic drawing of the encoder under each setting: which "
        "embeddings, layers and softmax are shared.",
        ("figure2", "Figure 2. What is compared"): "Schematic drawing of two encoders side by side: which of their "
        "vectors, of words, of words in context and of sentences, are mapped or compared at which layers in "
        "Figures 4 to 7.",
        ("figure3", "Figure 3. Zero-shot transfer under each setting"): "Bars of zero-shot transfer scores, one "
        "panel for each task and language pair, one bar for each setting; the pale part of a bar is the untrained "
        "encoder, a dashed line is the level of Default.",
        ("figure4a", "Figure 4a. Alignment of words without context"): "Bars of word translation precision for "
        "each language: rows of the embedding matrix beside fastText vectors.",
        ("figure4b", "Figure 4b. Alignment of words in context"): "Lines of word translation precision against "
        "the layer, one for each language, with fastText for reference.",
        ("figure5", "Figure 5. Transfer through aligned layers"): "Lines of transfer score against the number of "
        "lower layers used: aligned monolingual models beside the bilingual model, one panel for each task and "
        "language.",
        ("figure6", "Figure 6. Alignment of sentences"): "Lines of sentence retrieval precision against the "
        "layer, one for each language pair.",
        ("figure7", "Figure 7. Similarity of encoders"): "Heat map of CKA similarity: rows are layers and their "
        "average, columns are language pairs, each with bilingual, monolingual and random encoders.",
        ("figure8", "Figure 8. The bilingual model with and without alignment"): "Lines of transfer score against "
        "the number of lower layers used: the bilingual model with and without the alignment step, one panel for "
        "each task and language.",
        ("cka_matrix*", "Similarity of every two layers"): "Heat map of CKA similarity between every layer of one "
        "encoder and every layer of another.",
    },
    TRAINING: {
        ("training", "Training curves"): "Curves of validation loss, as a share of the unigram entropy, against "
        "the number of updates: one panel for each setting, one line for each language.",
        ("emergence*", "Emergence of cross-lingual structure"): "Curves of sentence retrieval without a mapping "
        "and of CKA similarity against the number of updates: one panel for each setting, one line for each "
        "language pair.",
        ("training/*", "Training of"): "Curves of loss, learning rate, sentence retrieval and CKA similarity of a "
        "model against its updates.",
    },
    ANCHORS: {
        ("anchors*", "Anchors in the training text"): "Bars of the share of running subwords that are anchors, "
        "which both languages use, for each setting and language pair; beside them how many different anchors "
        "there are.",
    },
}  # by section: a figure's pattern and title, and what it shows
ENTRIES = tuple(
    Entry(pattern, section, title, alt, folded=pattern == "training/*")
    for section, entries in CAPTIONS.items()
    for (pattern, title), alt in entries.items()
)


def entry_of(name: str) -> Entry:
    """Return what is known of a figure by its name below the folder; one nobody described stands with the figures."""
    known = next((entry for entry in ENTRIES if fnmatchcase(name, entry.pattern)), None)
    title = name.rsplit("/", 1)[-1].replace("_", " ")
    return known or Entry(name, FIGURES, title, f"Figure {title}.")


def find_figures(folders: Iterable[Path], only: Collection[str] = ()) -> dict[str, Path]:
    """Return the pictures below folders in the page's order, all or `only` some: drawings where they are light."""
    found: dict[str, dict[str, Path]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in TYPES:
                found.setdefault(str(path.relative_to(folder).with_suffix("").as_posix()), {})[path.suffix] = path
    patterns = [entry.pattern for entry in ENTRIES]

    def page_order(name: str) -> tuple[int, str]:
        pattern = entry_of(name).pattern
        return patterns.index(pattern) if pattern in patterns else len(patterns), name

    names = sorted((name for name in found if not only or name in only), key=page_order)
    return {name: _chosen(found[name], entry_of(name).folded) for name in names}


def _chosen(paths: Mapping[str, Path], folded: bool) -> Path:
    drawing = paths.get(".svg")
    if drawing and (".png" not in paths or (drawing.stat().st_size <= LARGEST_DRAWING and not folded)):
        return drawing
    return paths[".png"]


def gallery(section: str, ours: Mapping[str, Path], papers: Mapping[str, Path]) -> dict[str, Any]:
    """Return the figures of a section for the template: in order, the paper's own under ours; then what is missing."""
    names = {name: entry_of(name) for name in ours if entry_of(name).section == section}
    entries = [entry for entry in ENTRIES if entry.section == section and not entry.folded]
    return {
        "shown": list(_shown({name: ours[name] for name, entry in names.items() if not entry.folded}, papers)),
        "missing": [entry.title for entry in entries if entry not in names.values()],
        "folded": [_figure(name, ours[name]) for name, entry in names.items() if entry.folded],
    }


def _shown(ours: Mapping[str, Path], papers: Mapping[str, Path]) -> Iterator[dict[str, Any]]:
    for name, path in ours.items():
        yield _figure(name, path)
        if name in papers:
            yield _figure(name, papers[name], ", from the paper's published numbers") | {"id": None}


def _figure(name: str, path: Path, addition: str = "") -> dict[str, Any]:
    entry = entry_of(name)
    family = entry.pattern.rstrip("*")
    title, rest = entry.title, name.removeprefix(family).strip("/_-. ").replace("_", " ")
    if rest and family != entry.pattern:
        title = f"{entry.title} {rest}" if entry.folded else f"{entry.title}: {rest}"
    title += addition
    picture = base64.b64encode(path.read_bytes()).decode("ascii")
    return {
        "id": f"figure-{re.sub(r'[^A-Za-z0-9]+', '-', name)}",
        "title": title,
        "alt": entry.alt,
        "folded": entry.folded,
        "source": f"data:{TYPES[path.suffix]};base64,{picture}",
        "numbers": _numbers(path.with_suffix(".csv"), title),
    }


def _numbers(path: Path, title: str) -> Table | str | None:
    if not path.is_file():
        return None
    frame = read_numbers(path)
    if len(frame) > MOST_ROWS:
        return f"{len(frame)} rows: too many for a page, they are in {path.name}."
    return data_table(frame.columns, frame.to_numpy().tolist(), f"numbers of {title}")
