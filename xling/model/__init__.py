"""The encoder: parameters shared between languages, and parameters that each language has separately."""
