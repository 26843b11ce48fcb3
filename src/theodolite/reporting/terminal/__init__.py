"""What a terminal shows: summary, dialogues, validation reports, trees, status."""
