"""The queue: which dialogue goes to whom, when, and in which order."""
