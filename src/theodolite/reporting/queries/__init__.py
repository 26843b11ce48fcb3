"""Queries over the evidence and the findings of a run: cases, dispositions, rates, agreements."""
