"""Passwords of tests: hashed by the same function as on a server, with its cost at the least."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class QuickHasher(Argon2PasswordHasher):
    """Argon2 in a thousandth of the memory; on a server, each password takes a tenth of a second by design."""

    time_cost = 1
    memory_cost = 100
    parallelism = 1
