"""The figures of a study: what each shows, and the command that draws them."""
