"""The report: one page with all results of a study, which opens without a network connection."""
