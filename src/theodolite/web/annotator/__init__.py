"""Pages for human annotators."""
