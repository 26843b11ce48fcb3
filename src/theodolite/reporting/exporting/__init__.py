"""Exports of a run for other programs."""
