"""Tests against software that nobody here wrote; `make test-wire` brings what they need."""
