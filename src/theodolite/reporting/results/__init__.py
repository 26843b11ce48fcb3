"""The results file: a run's numbers as JSON, list by list."""
