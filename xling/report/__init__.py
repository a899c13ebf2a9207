"""Tables, figures and verdicts, made from result records only."""
