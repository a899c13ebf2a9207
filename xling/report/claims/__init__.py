"""The claims of the paper, as predicates that are checked on the results of a study."""
