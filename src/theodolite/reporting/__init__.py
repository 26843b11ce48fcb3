"""Reporting: from estimates to findings, their words, and the views of each reader."""
