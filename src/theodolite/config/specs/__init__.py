"""Pydantic models of the files of a study, key by key.

Pydantic validates these models and writes the JSON Schemas; what the values mean
together is checked elsewhere.
"""
