"""Pages of people who test applications."""
