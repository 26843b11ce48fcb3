"""Testing: the next prompt of a dialogue."""
