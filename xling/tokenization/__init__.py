"""Raw text into words, the same way for pretraining and for every task (section 3.1 of the paper)."""
