"""Models: language models in the formats of their providers."""
