"""The options of a language's tokeniser."""

from typing import Any, Literal

from xling.core.records import Flag, Text, read_record, record, refuse

Segmenter = Literal["none", "jieba", "stanford"]
HanScript = Literal["none", "simplified", "traditional"]


@record
class Options:
    """How a language is tokenised; the defaults are the study's."""

    language: Text
    moses: Text | None
    segmenter: Segmenter = "none"
    dictionary: Text | None = None
    stanford_home: Text | None = None
    script: HanScript = "none"
    lowercase: Flag = True
    strip_accents: Flag = False

    def __post_init__(self) -> None:
        if self.segmenter == "stanford" and self.stanford_home is None:
            refuse(["stanford_home: missing, but segmenter: stanford needs it (the unpacked folder)"])


def check_options(options: dict[str, Any]) -> Options:
    """Return the options as a record; unknown keys, missing keys and wrong values are refused."""
    return read_record(Options, options, "tokeniser options")
