"""Limits: when the next call may go, and how often one is tried."""
