"""Cross-lingual structure in pretrained language models, from raw text to the paper's figures."""

__version__ = "0.1.0"
