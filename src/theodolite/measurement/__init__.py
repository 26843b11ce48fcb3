"""Measurement: pure functions from labels to estimates."""
