"""Votes: how far one judge says the same when it is asked again."""
