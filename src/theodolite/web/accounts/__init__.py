"""Accounts: sign-in, invitations and display settings."""
