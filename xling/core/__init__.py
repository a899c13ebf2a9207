"""Shared by all stages: clear errors, safe files, logs, seeds."""
