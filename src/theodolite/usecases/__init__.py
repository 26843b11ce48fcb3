"""Use cases: user operations, as functions over ports."""
