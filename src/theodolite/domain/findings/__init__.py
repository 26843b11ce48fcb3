"""Findings: results of measurement other than estimates of rates."""
