"""People's annotation in the database: queues, reservations, drafts and what follows from them.

The functions here run on the connection of the calling thread and open their own
transactions. They take keys and tokens and give domain records back.
"""
