"""What every stage uses: clear errors, safe files, logs, seeds."""
