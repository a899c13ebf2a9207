"""The report: one page that holds everything a study found and opens without a network."""
