"""Theodolite: an instrument for measuring what GenAI applications do to people."""
