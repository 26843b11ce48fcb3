"""Monitoring: scores in the order of time, and what a look at them brought."""
