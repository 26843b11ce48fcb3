"""Findings: what measurement found beside the estimates of rates."""
