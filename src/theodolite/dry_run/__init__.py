"""Dry runs: bots complete a whole event over HTTP, on a copy of the study, before people do."""
