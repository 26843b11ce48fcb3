"""Applications: what is under test, in each way that it can be reached."""
