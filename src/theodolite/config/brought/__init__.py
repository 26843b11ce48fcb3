"""Brought: dialogues and labels that other programs wrote."""
