"""Shapes: what the files of a study may hold, key by key.

Pydantic checks the shape and writes the JSON Schemas; what the values mean
together is checked elsewhere.
"""
