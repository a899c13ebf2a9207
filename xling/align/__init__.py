"""Alignment of independently trained models: hidden states, normalisation, mapping, retrieval (section 5.1)."""
