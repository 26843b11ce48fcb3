"""What people do in an event, stored: seats, sessions, live dialogues, answers, withdrawals.

Functions run in a transaction of their own on whichever thread calls, which must be
bound to the workspace's database.
"""
