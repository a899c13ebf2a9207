"""Extra anchors: training text with some words replaced by their translations."""
