"""People who take part: who they are, where they sit, what they agreed to and what they may meet."""
