"""Crawled text as CC-100 has it: a paragraph a line, a blank line after each document."""

from collections.abc import Iterable
from pathlib import Path

from xling.core.io import write_text
from xling.synthetic.types import Document


def write_crawl(path: Path, documents: Iterable[Document], joiner: str) -> None:
    """Write documents, the sentences of a paragraph held together by `joiner`."""
    with write_text(path) as handle:
        for document in documents:
            handle.writelines(joiner.join(paragraph.sentences) + "\n" for paragraph in document.paragraphs)
            handle.write("\n")
