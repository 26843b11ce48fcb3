"""Signing in, invitations and who one is."""
