"""The studies of a series side by side."""
