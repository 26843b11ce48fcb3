"""Pages for readers of testers' answers: analysts, organisers and seniors who annotate nothing."""
