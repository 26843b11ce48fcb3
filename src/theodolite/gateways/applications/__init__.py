"""Applications under test, for each kind of connection."""
