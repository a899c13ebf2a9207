"""The embedded languages: meanings, five ways to say them, and every source of the study in its raw format."""
