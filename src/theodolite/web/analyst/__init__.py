"""Pages for readers of testers' answers: analysts, organisers and senior annotators who do not annotate."""
