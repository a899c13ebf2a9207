"""Masked language modelling: batches, training, validation, and checkpoints from which a run resumes exactly."""
