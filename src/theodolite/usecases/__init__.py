"""Use cases: what a user can ask for, as functions over ports."""
