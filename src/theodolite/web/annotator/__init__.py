"""Pages of people who annotate dialogues."""
