"""The measurements of a whole study, from evidence to findings."""
