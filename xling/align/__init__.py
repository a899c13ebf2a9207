"""Alignment of independently trained models: states, normalisation, mapping, retrieval (section 5.1)."""
