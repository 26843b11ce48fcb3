"""The store: the one database layer. Import its modules, not this package."""
