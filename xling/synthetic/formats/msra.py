"""The MSRA set of the 2006 bakeoff: a character and its BIO tag a line, a blank line between sentences."""

from collections.abc import Iterable
from pathlib import Path

from xling.core.io import write_text
from xling.synthetic.formats.tokens import tagged_characters
from xling.synthetic.types import Sentence


def write_msra(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write tagged sentences character by character."""
    with write_text(path) as handle:
        for sentence in sentences:
            handle.writelines(f"{character} {tag}\n" for character, tag in tagged_characters(sentence))
            handle.write("\n")
