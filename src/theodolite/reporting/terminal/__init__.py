"""What a terminal shows: summary, dialogues, certificates, trees, status."""
