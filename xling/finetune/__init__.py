"""Zero-shot transfer: fine-tune on English, select on English, evaluate on another language."""
