"""The demo, from command to files."""
