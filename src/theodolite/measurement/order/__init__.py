"""Order metrics: what the order of scores tells, and what it cannot tell."""
