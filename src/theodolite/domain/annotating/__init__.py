"""Annotating by people: what waits, who takes it, what is hard about it and how it is settled."""
