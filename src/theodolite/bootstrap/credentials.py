"""Encryption of the credentials that teams enter."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from theodolite.domain.errors import InputError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

    from theodolite.store.django_store import DjangoStore

VARIABLE = "THEODOLITE_OPERATOR_KEY"
"""Environment variable that holds the operator's key: any words, twenty letters at least."""

TEAM_VARIABLES = "SUBMISSION_"
"""Beginning of the names under which study files speak of the credentials of teams."""

SHORTEST = 20

_PURPOSE = b"theodolite credentials of teams, version 1"


def key_variable(token: str) -> str:
    """Return the name under which a study file speaks of the credentials of a submission."""
    return f"{TEAM_VARIABLES}{token.replace('-', '_').upper()}"


def sealed(credentials: str, operator_key: str) -> bytes:
    """Return credentials under the operator's key.

    Raises:
        InputError: If there is no key, or one that is too short.
    """
    return _fernet(operator_key).encrypt(credentials.encode())


def unsealed(kept: bytes | memoryview, operator_key: str) -> str:
    """Return credentials in plain text, for the call that needs them and for nothing else.

    Raises:
        InputError: If they were sealed under another key, or there is none.
    """
    from cryptography.fernet import InvalidToken

    try:
        return _fernet(operator_key).decrypt(bytes(kept)).decode()
    except InvalidToken as error:
        message = f"credentials of a team were sealed under another `{VARIABLE}`; set the old one, or ask for them anew"
        raise InputError(message) from error


def with_team_keys(environ: Mapping[str, str], store: DjangoStore, study: str) -> Mapping[str, str]:
    """Return an environment with what teams have left in the workspace's vault for a study.

    What the environment says itself goes first. Without the operator's key nothing is opened.

    Raises:
        InputError: If credentials were sealed under another key.
    """
    operator_key = environ.get(VARIABLE, "")
    if not operator_key:
        return environ
    kept = store.sealed_credentials(study)
    return {**{key_variable(token): unsealed(one, operator_key) for token, one in kept.items()}, **environ}


def _fernet(key: str) -> Fernet:
    from cryptography.fernet import Fernet  # only who keeps or needs credentials waits for it

    if len(key) < SHORTEST:
        message = (
            f"credentials cannot be kept: the operator has not set `{VARIABLE}` to {SHORTEST} letters or more"
            " before starting the server"
        )
        raise InputError(message)
    # The operator's words are to be long, and are no password of a person: one round of a keyed hash is enough.
    derived = hashlib.blake2b(_PURPOSE, key=hashlib.sha256(key.encode()).digest(), digest_size=32).digest()
    return Fernet(base64.urlsafe_b64encode(derived))
