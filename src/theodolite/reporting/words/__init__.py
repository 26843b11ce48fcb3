"""Words: how numbers and nouns are told, the same in terminal, report and web."""
