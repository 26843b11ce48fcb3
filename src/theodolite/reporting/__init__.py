"""Reporting: from estimates to what was found, its words, and what each reader is shown."""
