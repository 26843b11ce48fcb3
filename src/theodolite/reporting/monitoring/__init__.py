"""Watches as people and programs read them: a screen, a document, a page with charts."""
