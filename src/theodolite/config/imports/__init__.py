"""Imports of dialogues and labels from files of other tools."""
