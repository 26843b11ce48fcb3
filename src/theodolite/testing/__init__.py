"""Testing: what to say next."""
