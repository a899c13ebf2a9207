"""Extra anchors: training text in which some words are replaced by their translations."""
