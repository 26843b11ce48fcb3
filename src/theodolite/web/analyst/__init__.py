"""Pages of those who read what testers answered: analysts, organisers and seniors who annotate nothing."""
