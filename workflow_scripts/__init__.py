"""What knows the workflow: the study description, the grid, paths, resolved runs, costs."""
