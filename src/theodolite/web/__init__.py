"""The web side: people test, annotate, review and organise in a browser."""
