"""Pages of those who hold an event."""
