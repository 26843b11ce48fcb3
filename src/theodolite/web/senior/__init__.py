"""Pages of senior annotators: what is disputed, and what is checked."""
