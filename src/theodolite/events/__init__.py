"""Services for testers: each module is one concept, and `rules` holds the pure rules.

Functions take the `EventContext` of an event, or the store, and return domain records.
"""
