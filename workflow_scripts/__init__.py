"""Modules that depend on the workflow: the study description, the grid of models, paths, run descriptions, costs."""
