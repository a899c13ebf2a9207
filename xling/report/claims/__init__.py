"""What the paper found, as predicates that a study's results are checked against."""
