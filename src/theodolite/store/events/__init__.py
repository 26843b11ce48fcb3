"""Repositories of what people do in events, one for each aggregate."""
