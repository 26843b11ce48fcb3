"""Pages for organisers of an event."""
