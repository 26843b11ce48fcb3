"""The judge: how a model is asked to read a dialogue, and how what it writes is read."""
