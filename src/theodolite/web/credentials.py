"""Encrypted store of the teams' credentials; only calls to their applications read them.

They lie in the database under the operator's key, which does not.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from theodolite.bootstrap.credentials import SHORTEST, VARIABLE, sealed, unsealed
from theodolite.web.models import HostedStudy, Submission

__all__ = ["SHORTEST", "VARIABLE", "can_seal", "opened", "seal", "vault_of"]


def can_seal() -> bool:
    """Tell whether the operator has set a key that is long enough."""
    return len(_operator_key()) >= SHORTEST


def seal(credentials: str) -> bytes:
    """Return credentials under the operator's key.

    Raises:
        InputError: If the operator has set none, or one that is too short.
    """
    return sealed(credentials, _operator_key())


def opened(encrypted: bytes | memoryview) -> str:
    """Return credentials in plain text, for the call that needs them and for nothing else.

    Raises:
        InputError: If they were sealed under another key.
    """
    return unsealed(encrypted, _operator_key())


def vault_of(hosted: HostedStudy) -> Mapping[str, str]:
    """Return the credentials of all accepted applications of an event, under the names that the study file uses.

    Raises:
        InputError: If they were sealed under another key than the operator's.
    """
    submissions = Submission.objects.filter(hosted=hosted, state=Submission.State.ACCEPTED).exclude(sealed=b"")
    return {submission.key_variable: opened(submission.sealed) for submission in submissions}


def _operator_key() -> str:
    return str(settings.OPERATOR_KEY)
