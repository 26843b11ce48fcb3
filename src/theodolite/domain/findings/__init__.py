"""Findings: results of measurement beside the estimates of rates."""
