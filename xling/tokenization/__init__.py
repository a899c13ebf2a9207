"""Raw text into words, the same way for pretraining and for every task (section 2 of the study)."""
