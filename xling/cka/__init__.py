"""Similarity of the representations of two encoders (section 5.2)."""
