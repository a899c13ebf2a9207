"""Names of the models, vectors and series that the figures of section 5 compare, as written in records."""

TRAINED, UNTRAINED = ENCODERS = ("trained", "untrained")
BERT, FASTTEXT, _ = VECTORS = ("BERT", "fastText", UNTRAINED)  # of words (Figure 4)
MLM_ALIGN, BI_MLM, BI_MLM_ALIGN = SERIES = ("MLM align", "biMLM", "biMLM align")  # Figures 5 and 8
BILINGUAL, MONOLINGUAL, RANDOM = CKA_MODELS = ("bilingual", "monolingual", "random")  # Figure 7
AVERAGE = "AVER"  # the mean over the layers (Figure 7)
