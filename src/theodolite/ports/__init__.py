"""Ports: what the use cases need of the world."""
