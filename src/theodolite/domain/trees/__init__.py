"""Measurement trees: their design, the files they travel in, and what they came to."""
