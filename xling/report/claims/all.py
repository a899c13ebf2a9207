"""The list of claims, in the order of the study's questions."""

from xling.report.claims.alignment import sentences_align, words_align
from xling.report.claims.anchors import (
    anchors_not_needed,
    domain_matters_little,
    more_anchors_help,
    most_for_the_distant_pair,
    no_anchors_near_default_anchors,
)
from xling.report.claims.contextual import contextual_states_align
from xling.report.claims.sharing import (
    closer_languages_transfer_better,
    nothing_shared_below_is_lowest,
    shared_softmax_helps,
    sharing_matters,
    six_layers_cost_most,
)
from xling.report.claims.similarity import (
    bilingual_over_monolingual_over_random,
    first_layers_most_alike,
    similarity_tracks_retrieval,
)
from xling.report.claims.verdict import Claim

UNPRINTED = "said in the text; the figure was not published as numbers"
CLAIMS = (
    Claim(
        "1a",
        "at least three quarters of the transfer survive without anchors, on XNLI and parsing",
        "Table 1",
        anchors_not_needed,
    ),
    Claim(
        "1b",
        "with the same BPE, transfer without anchors is about as good as with the default ones, on XNLI and parsing",
        "Table 1",
        no_anchors_near_default_anchors,
    ),
    Claim(
        "2a",
        "extra anchors from a dictionary transfer better than no anchors, on XNLI and parsing",
        "Table 1",
        more_anchors_help,
    ),
    Claim(
        "2b",
        "in each task extra anchors add most for Chinese, the most distant language",
        "Table 1",
        most_for_the_distant_pair,
    ),
    Claim(
        "3",
        "text from another domain costs at most a tenth of the transfer on XNLI and parsing, and more of it on NER",
        "Table 1",
        domain_matters_little,
    ),
    Claim("4a", "the fewer layers two languages share, the worse the transfer", "Table 1", sharing_matters),
    Claim(
        "4b",
        "in each task separate embeddings and softmax transfer less on average than no anchors",
        "Table 1",
        shared_softmax_helps,
    ),
    Claim(
        "4c",
        "in each task separating six layers costs at least three times as much as three",
        "Table 1",
        six_layers_cost_most,
    ),
    Claim(
        "4d",
        "separate embeddings and six separate layers transfer least of all ten settings, and keep at most .15 of the "
        "transfer to Russian and Chinese",
        "Table 1",
        nothing_shared_below_is_lowest,
    ),
    Claim(
        "5",
        "closer languages transfer better: French than Russian and Chinese, and in parsing Russian than Chinese",
        "Table 1",
        closer_languages_transfer_better,
    ),
    Claim(
        "6a",
        "words of independently trained models can be aligned far above chance: embeddings at least as well as "
        "fastText, words in context less well, and better in upper layers",
        "Figures 4a, 4b",
        words_align,
        UNPRINTED,
    ),
    Claim(
        "6b",
        "aligned contextual states transfer less than a bilingual model's (parsing French aside), most from a middle "
        "layer, with the larger gap in NER, and aligning the bilingual model helps in parsing only",
        "Figures 5, 8",
        contextual_states_align,
        UNPRINTED,
    ),
    Claim(
        "6c",
        "sentences of independently trained models can be aligned far above chance, best at the lower layers",
        "Figure 6",
        sentences_align,
        UNPRINTED,
    ),
    Claim(
        "7a",
        "averaged over layers, bilingual models are more alike across languages than monolingual ones, and those more "
        "than random encoders",
        "Figure 7",
        bilingual_over_monolingual_over_random,
    ),
    Claim(
        "7b",
        "layers 0 and 1 are most alike, and sharing a model adds less for distant languages",
        "Figure 7",
        first_layers_most_alike,
    ),
    Claim(
        "7c",
        "over the layers, similarity and sentence retrieval correlate above .9",
        "Figures 6, 7",
        similarity_tracks_retrieval,
        "over 0.9 for all four pairs (stated in the text)",
    ),
)
