"""Every claim of the paper: its wording (claims.yaml) and the inequalities that decide it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from xling.report.claims import parts
from xling.report.claims.parts import ABOVE, AT_LEAST, AT_MOST, NOT_NER
from xling.report.measured import Study, kept_share, lead_of, upper_minus_lower
from xling.report.models import BERT, BILINGUAL, FASTTEXT, MONOLINGUAL, RANDOM
from xling.report.names import DEFAULT, EXTRA_ANCHORS, NO_ANCHORS, SEP_3, SEP_6, SEP_EMB, SEP_EMB_3, SEP_EMB_6, WIKI_CC
from xling.report.rule import Part, Unit

WORDS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("claims.yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Claim:
    """A sub-claim: its number, its wording from claims.yaml, and a function that tests its inequalities on a study."""

    number: str
    parts: Callable[[Study], list[Part]]
    says: str
    source: str = "Table 1"
    paper: str = ""


def other_domain(s: Study) -> list[Part]:
    """Judge claim 3 on Wiki-CC."""
    part = Part("mean kept share of Wiki-CC", Unit.SHARE, AT_LEAST, 0.9, ours=True)
    value = partial(kept_share, s, WIKI_CC)
    return [parts.by_task(s, part, (WIKI_CC,), value, NOT_NER), parts.over_ner(s, WIKI_CC)]


def separate_embeddings(s: Study) -> list[Part]:
    """Judge claim 4b on Sep Emb."""
    part = Part("mean gain of No anchors over its floor, minus that of Sep Emb over its own")
    settings = (NO_ANCHORS, SEP_EMB)
    return [parts.by_task(s, part, settings, partial(s.lead_above_floors, *settings))]


def aligned_words(s: Study) -> list[Part]:
    """Judge claim 6a on Figures 4a and 4b."""
    rising = Part("mean of upper minus mean of lower layers (Figure 4b)")
    return [
        parts.over_other(s, "embedding matrix minus fastText (Figure 4a)", AT_LEAST, "figure4a", BERT, FASTTEXT),
        parts.over_other(s, "fastText minus best contextual layer (Figure 4b)", ABOVE, "figure4b", FASTTEXT, BERT),
        parts.by_pair(rising, lambda x: upper_minus_lower(s.curve("figure4b", x, BERT))),
        parts.far_above(s, "the embedding matrix", "figure4a", BERT, " (4a)"),
        parts.far_above(s, "the best contextual layer", "figure4b", BERT, " (4b)"),
    ]


def aligned_sentences(s: Study) -> list[Part]:
    """Judge claim 6c on Figure 6."""
    lower = Part("best lower layer minus best layer above", Unit.POINTS, AT_LEAST)
    return [
        parts.far_above(s, "the best layer", "figure6", MONOLINGUAL),
        parts.by_pair(lower, lambda x: lead_of("lower", s.curve("figure6", x, MONOLINGUAL))),
    ]


PARTS: dict[str, Callable[[Study], list[Part]]] = {
    "1a": lambda s: [parts.kept(s, NO_ANCHORS, AT_LEAST, 0.75)],  # published .93 to 1.02
    "1b": lambda s: [parts.hardly_worse(s)],
    "2a": lambda s: [parts.leads(s, EXTRA_ANCHORS, NO_ANCHORS, NOT_NER)],
    "2b": lambda s: [parts.more_for_the_distant(s)],
    "3": other_domain,
    "4a": lambda s: [parts.falling(s, DEFAULT, SEP_3, SEP_6), parts.falling(s, SEP_EMB, SEP_EMB_3, SEP_EMB_6)],
    "4b": separate_embeddings,
    "4c": parts.six_over_three,
    "4d": lambda s: [parts.lowest(s), parts.kept(s, SEP_EMB_6, AT_MOST, 0.15, ("ru", "zh"))],
    "4e": lambda s: [parts.kept(s, SEP_3, AT_LEAST, 0.75), parts.kept(s, SEP_EMB_3, AT_LEAST, 0.5)],
    "5": lambda s: [  # Russian and Chinese NER have different datasets
        *(parts.nearer(s, "fr", far) for far in ("ru", "zh")),
        parts.nearer(s, "ru", "zh", ("parsing",)),
    ],
    "6a": aligned_words,
    "6b": parts.contextual_states,
    "6c": aligned_sentences,
    "7a": lambda s: [parts.more_alike(s, BILINGUAL, MONOLINGUAL), parts.more_alike(s, MONOLINGUAL, RANDOM)],
    "7b": lambda s: [parts.first_layers(s), parts.shrinking(s)],
    "7c": lambda s: [parts.correlation(s)],
}
CLAIMS = tuple(Claim(number, PARTS[number], **words) for number, words in WORDS["claims"].items())
