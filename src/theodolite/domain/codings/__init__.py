"""Coding: what testers wrote in their own words, sorted by people under codes."""
