"""Human annotation: open items, assignment, sensitive content and resolution."""
