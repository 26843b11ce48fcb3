"""Labelling: guidelines, schemas, questions, and those who answer them, as study files write them."""
