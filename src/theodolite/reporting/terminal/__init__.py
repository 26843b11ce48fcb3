"""Output for a terminal: summary, dialogues, validation reports, trees, status."""
