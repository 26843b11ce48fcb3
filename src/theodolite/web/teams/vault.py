"""The vault: teams' credentials, written once and read by nobody but the call that needs them.

They lie in the database under the operator's key, which does not.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from theodolite.domain.errors import InputError
from theodolite.web.models import HostedStudy, Submission

VARIABLE = "THEODOLITE_OPERATOR_KEY"
"""Environment variable that holds the operator's key: any words, twenty letters at least."""

SHORTEST = 20
_PURPOSE = b"theodolite credentials of teams, version 1"


def can_seal() -> bool:
    """Tell whether the operator has set a key that is long enough."""
    return len(_operator_key()) >= SHORTEST


def seal(credentials: str) -> bytes:
    """Return credentials under the operator's key.

    Raises:
        InputError: If the operator has set none, or one that is too short.
    """
    return _fernet().encrypt(credentials.encode())


def opened(sealed: bytes | memoryview) -> str:
    """Return credentials in plain text, for the call that needs them and for nothing else.

    Raises:
        InputError: If they were sealed under another key.
    """
    try:
        return _fernet().decrypt(bytes(sealed)).decode()
    except InvalidToken as error:
        message = f"credentials of a team were sealed under another `{VARIABLE}`; set the old one, or ask for them anew"
        raise InputError(message) from error


def vault_of(hosted: HostedStudy) -> Mapping[str, str]:
    """Return the credentials of all accepted applications of an event, under the names that the study file uses."""
    kept = Submission.objects.filter(hosted=hosted, state=Submission.State.ACCEPTED).exclude(sealed=b"")
    return {one.key_variable: opened(one.sealed) for one in kept}


def _operator_key() -> str:
    return str(settings.OPERATOR_KEY)


def _fernet() -> Fernet:
    key = _operator_key()
    if len(key) < SHORTEST:
        message = (
            f"credentials cannot be kept: the operator has not set `{VARIABLE}` to {SHORTEST} letters or more"
            " before starting the server"
        )
        raise InputError(message)
    # The operator's words are to be long, and are no password of a person: one round of a keyed hash is enough.
    derived = hashlib.blake2b(_PURPOSE, key=hashlib.sha256(key.encode()).digest(), digest_size=32).digest()
    return Fernet(base64.urlsafe_b64encode(derived))
