"""The pages on which annotation schemas are written, tried and published."""
