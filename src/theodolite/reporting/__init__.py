"""Reporting: from estimates to view models to text."""
