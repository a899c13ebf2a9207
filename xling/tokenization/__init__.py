"""Tokenisation of raw text into words, identical for pretraining and for every task (section 3.1 of the paper)."""
