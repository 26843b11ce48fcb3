"""Models: language models in their makers' forms."""
