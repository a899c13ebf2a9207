"""The estimated cost of a study before it runs, and the measured cost afterwards."""
