"""Assessment: from dialogues to annotations."""
