"""The sources of the study's data: download, and one reader per official format."""
