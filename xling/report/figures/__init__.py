"""The figures of a study and the command that draws them."""
