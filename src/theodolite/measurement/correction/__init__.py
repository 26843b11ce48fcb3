"""Correction: what a judge's verdicts say about the rate that people would find."""
