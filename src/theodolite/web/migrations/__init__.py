"""The tables of the web side, in order; tables of dialogues and annotations belong to the store."""
