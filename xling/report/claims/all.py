"""Every claim of the paper, in the order of the study's questions: its number, what it says, and its parts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from xling.report.claims import parts
from xling.report.claims.parts import ABOVE, AT_LEAST, AT_MOST, NOT_NER
from xling.report.measured import Study, kept_share, lead_of, upper_minus_lower
from xling.report.names import DEFAULT, EXTRA_ANCHORS, NO_ANCHORS, SEP_3, SEP_6, SEP_EMB, SEP_EMB_3, SEP_EMB_6, WIKI_CC
from xling.report.records import BERT, BILINGUAL, FASTTEXT, MONOLINGUAL, RANDOM
from xling.report.rule import Part, Unit

UNPRINTED = "stated in the text; the figure's values were not published"


@dataclass(frozen=True)
class Claim:
    """A sub-claim: its number, what it says (to follow "the paper claims that"), and where the paper states it.

    `parts` takes a study and returns the inequalities to test. `paper` is the text shown where the paper publishes no
    values.
    """

    number: str
    says: str
    parts: Callable[[Study], list[Part]]
    source: str = "Table 1"
    paper: str = ""


CLAIMS = (
    Claim(
        "1a",
        "at least three quarters of the transfer survives without anchors",
        lambda s: [parts.kept(s, NO_ANCHORS, AT_LEAST, 0.75)],  # published .93 to 1.02
    ),
    Claim(
        "1b",
        "on XNLI and parsing, with the same BPE in both models, removing the default anchors hardly reduces transfer",
        lambda s: [parts.hardly_worse(s)],
    ),
    Claim(
        "2a",
        "models with extra anchors from a dictionary transfer better than models without anchors, on XNLI and parsing",
        lambda s: [parts.leads(s, EXTRA_ANCHORS, NO_ANCHORS, NOT_NER)],
    ),
    Claim(
        "2b",
        "extra anchors add more for Chinese, the distant language, than for French, on XNLI and NER",
        lambda s: [parts.more_for_the_distant(s)],
    ),
    Claim(
        "3",
        "text from another domain costs at most a tenth of the transfer on XNLI and parsing, and costs more on NER "
        "than on either",
        lambda s: [
            parts.by_task(
                s,
                Part("mean kept share of Wiki-CC", Unit.SHARE, AT_LEAST, 0.9, ours=True),
                (WIKI_CC,),
                partial(kept_share, s, WIKI_CC, border=0.9),
                NOT_NER,
            ),
            parts.over_ner(s, WIKI_CC),
        ],
    ),
    Claim(
        "4a",
        "the fewer layers two languages share, the worse the transfer",
        lambda s: [parts.falling(s, DEFAULT, SEP_3, SEP_6), parts.falling(s, SEP_EMB, SEP_EMB_3, SEP_EMB_6)],
    ),
    Claim(
        "4b",
        "in each task the model with separate embeddings and softmax gains less over its untrained counterpart than "
        "the model without anchors does",
        lambda s: [
            parts.by_task(
                s,
                Part("mean gain of No anchors over its floor, minus that of Sep Emb over its own"),
                (NO_ANCHORS, SEP_EMB),
                partial(s.lead_above_floors, NO_ANCHORS, SEP_EMB),
            )
        ],
    ),
    Claim(
        "4c",
        "in each task, separating six layers costs at least three times as much as separating three",
        parts.six_over_three,
    ),
    Claim(
        "4d",
        "of all ten settings, the one with separate embeddings and six separate layers transfers least, and it keeps "
        "at most .15 of the transfer to Russian and Chinese",
        lambda s: [parts.lowest(s), parts.kept(s, SEP_EMB_6, AT_MOST, 0.15, ("ru", "zh"))],
    ),
    Claim(
        "4e",
        "with the bottom three layers separate at least three quarters of the transfer survives, or at least half if "
        "the embeddings are separate too",
        lambda s: [parts.kept(s, SEP_3, AT_LEAST, 0.75), parts.kept(s, SEP_EMB_3, AT_LEAST, 0.5)],
    ),
    Claim(
        "5",
        "transfer is better to closer languages: better to French than to Russian or Chinese and, in parsing, better "
        "to Russian than to Chinese",
        lambda s: [  # Chinese NER uses another dataset than Russian NER
            *(parts.nearer(s, "fr", far) for far in ("ru", "zh")),
            parts.nearer(s, "ru", "zh", ("parsing",)),
        ],
    ),
    Claim(
        "6a",
        "words of independently trained models can be aligned far above chance: the embeddings at least as well as "
        "fastText; words in context less well than fastText, and better in upper than in lower layers",
        lambda s: [
            parts.over_other(s, "embedding matrix minus fastText (Figure 4a)", AT_LEAST, "figure4a", BERT, FASTTEXT),
            parts.over_other(s, "fastText minus best contextual layer (Figure 4b)", ABOVE, "figure4b", FASTTEXT, BERT),
            parts.by_pair(
                Part("mean of upper minus mean of lower layers (Figure 4b)"),
                lambda x: upper_minus_lower(s.curve("figure4b", x, BERT)),
            ),
            parts.far_above(s, "the embedding matrix", "figure4a", BERT, " (4a)"),
            parts.far_above(s, "the best contextual layer", "figure4b", BERT, " (4b)"),
        ],
        "Figures 4a, 4b",
        UNPRINTED,
    ),
    Claim(
        "6b",
        "aligned contextual states transfer less well than those of a bilingual model (except in French parsing), the "
        "gap is larger in NER than in parsing, a middle layer transfers best, and aligning the bilingual model's own "
        "states helps only in parsing",
        parts.contextual_states,
        "Figures 5, 8",
        UNPRINTED,
    ),
    Claim(
        "6c",
        "sentences of independently trained models can be aligned far above chance, best at the lower layers",
        lambda s: [
            parts.far_above(s, "the best layer", "figure6", MONOLINGUAL),
            parts.by_pair(
                Part("best lower layer minus best layer above", Unit.POINTS, AT_LEAST),
                lambda x: lead_of("lower", s.curve("figure6", x, MONOLINGUAL)),
            ),
        ],
        "Figure 6",
        UNPRINTED,
    ),
    Claim(
        "7a",
        "averaged over layers, two languages are represented more similarly in a bilingual model than in two "
        "monolingual ones, and more similarly in those than in random encoders",
        lambda s: [parts.more_alike(s, BILINGUAL, MONOLINGUAL), parts.more_alike(s, MONOLINGUAL, RANDOM)],
        "Figure 7",
    ),
    Claim(
        "7b",
        "similarity across languages peaks in one of layers 0 to 2, and sharing a model raises it less for "
        "distant languages",
        lambda s: [parts.first_layers(s), parts.shrinking(s)],
        "Figure 7",
    ),
    Claim(
        "7c",
        "across layers, similarity and sentence retrieval correlate at more than .9",
        lambda s: [parts.correlation(s)],
        "Figures 6, 7",
        "over 0.9 for all four pairs (stated in the text)",
    ),
)
