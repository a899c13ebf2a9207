"""Export of models to Hugging Face (weights, tokenizer, model card), and comparison with any published encoder."""
