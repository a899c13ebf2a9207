"""Zero-shot transfer: fine-tune and select in the source language (English), evaluate in other languages."""
