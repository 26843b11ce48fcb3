"""Pages for testers."""
