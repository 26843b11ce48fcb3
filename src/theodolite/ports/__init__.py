"""Ports: interfaces that the use cases need."""
