"""Comparisons as people and programs read them."""
