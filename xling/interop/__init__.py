"""Models out to Hugging Face and published encoders in: export, tokenizer, card, and comparing any two encoders."""
