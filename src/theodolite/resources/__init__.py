"""Data that ships with the package: studies, personas, guidelines, templates."""
