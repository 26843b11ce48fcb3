"""The tables of the web side, in order; tables that dialogues and annotations live in belong to the store."""
