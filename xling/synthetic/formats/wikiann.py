"""WikiAnn: `xx:token<TAB>TAG`, a blank line between sentences; characters where the script has no spaces."""

from collections.abc import Iterable
from pathlib import Path

from xling.core.io import write_text
from xling.synthetic.formats.tokens import tagged_characters, tagged_tokens
from xling.synthetic.types import Sentence


def write_wikiann(path: Path, sentences: Iterable[Sentence], code: str, spaces: bool) -> None:
    """Write tagged sentences with the language's prefix on every token."""
    tokens = tagged_tokens if spaces else tagged_characters
    with write_text(path) as handle:
        for sentence in sentences:
            handle.writelines(f"{code}:{form}\t{tag}\n" for form, tag in tokens(sentence))
            handle.write("\n")
