"""Measurement trees: designs checked, values computed with their uncertainty, trees compared (CoRIx)."""
