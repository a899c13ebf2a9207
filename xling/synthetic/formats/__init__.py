"""Writers of the embedded languages in the official raw formats of the study's sources."""
