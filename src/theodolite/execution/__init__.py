"""Execution: drives flows against models, applications and the journal."""
