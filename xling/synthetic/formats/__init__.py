"""Writers for the official raw formats of the study's data sources."""
