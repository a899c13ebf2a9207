"""The encoder: what is shared between the languages and what is each language's own."""
