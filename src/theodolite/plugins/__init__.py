"""Plugins: hook specifications and their discovery."""
