"""Pages of senior annotators: disputes and checks."""
