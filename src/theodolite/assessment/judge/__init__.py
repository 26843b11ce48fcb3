"""The judge: how a model is prompted to read a dialogue, and how its output is parsed."""
