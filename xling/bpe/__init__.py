"""Subwords: sentencepiece models, vocabularies of one or two languages, the anchor audit, encoded texts."""
