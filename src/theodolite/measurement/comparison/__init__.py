"""Comparison: differences of two applications or versions on the same test cases."""
