"""The REST API: its operations, their records, tokens and webhooks."""
