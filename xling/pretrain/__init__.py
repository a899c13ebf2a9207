"""Masked language modelling: batches, training, validation, checkpoints that a run resumes from exactly."""
