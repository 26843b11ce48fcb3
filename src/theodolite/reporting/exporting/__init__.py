"""Exports: tables with a row an answer, for other programs to read."""
