"""Text of numbers and nouns, the same in terminal, report and web."""
