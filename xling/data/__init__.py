"""Where the data of the study comes from, and one reader per official format."""
