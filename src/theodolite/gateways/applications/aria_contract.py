"""The contract of ARIA's dialogue interface: what its methods may return, and what real classes returned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from theodolite.domain.errors import InputError, ServerFault
from theodolite.domain.fault import did_you_mean
from theodolite.gateways.applications.worker_answers import ForeignObject, type_of
from theodolite.gateways.attempt_error import AttemptError, empty, malformed
from theodolite.gateways.secret_redaction import Credentials


@dataclass(frozen=True, slots=True)
class Tolerated:
    """A value that breaks the contract in a way whose meaning is plain all the same.

    Attributes:
        value: What is meant.
        remark: What is wrong with how it was said.
    """

    value: Any
    remark: str


def check_class(described: Mapping[str, Any], *, what: str) -> None:
    """Refuse a class that cannot hold a dialogue, and say everything that it lacks.

    Args:
        described: The worker's description of the class.
        what: What messages call the application.

    Raises:
        InputError: If a needed method is missing or still abstract, or the study does not give what the
            constructor takes.
    """
    kind = f"{what}: class `{described['name']}`"
    if described["lacking"]:
        message = f"{kind} does not define {_listed(described['lacking'])}, which ARIA's dialogue interface asks for"
        raise InputError(message)
    if described["wanted"]:
        first = described["wanted"][0]
        message = (
            f"{kind} cannot be made without {_listed(described['wanted'])}; ARIA's dialogue interface makes instances"
            f' without arguments. Give them in the study: `init: {{{first}: "{{{{ auth.{first} }}}}"}}`, where `auth`'
            " is the JSON object in the environment variable `ARIA_AUTH_JSON`, or in the one that `auth: NAME` names"
        )
        raise InputError(message)
    if described["unknown"]:
        message = f"{kind} takes no {_listed(described['unknown'])}, which `init` gives" + did_you_mean(
            described["unknown"][0], described["takes"]
        )
        raise InputError(message)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def read_truth(returned: Any, method: str, credentials: Credentials) -> bool | Tolerated | AttemptError:
    """Return what a method says about its success.

    A pair such as `(False, "no key")` is true to Python whatever it holds, so its
    first member is read; that is how real classes meant it. NIST's own programs
    took any other true value for success.
    """
    if isinstance(returned, bool):
        return returned
    if isinstance(returned, tuple | list) and returned and isinstance(returned[0], bool):
        kind = type_of(returned)
        remark = f"`{method}` returned a {kind} that begins with {returned[0]}; expected {returned[0]} alone"
        if returned[0]:
            return Tolerated(True, remark)
        words = credentials.scrub(" ".join(str(item) for item in returned[1:]))
        return AttemptError(kind=ServerFault, words=f"`{method}` returned False: {words}".removesuffix(": "))
    is_true = returned.is_true if isinstance(returned, ForeignObject) else bool(returned)
    if is_true and not (isinstance(returned, ForeignObject) and returned.type_name == "coroutine"):
        return Tolerated(True, f"`{method}` returned {_named(returned)}, taken as True; expected True or False")
    return malformed(f"`{method}` returned {_named(returned)}; expected True or False: return True where it succeeded")


def read_response(returned: Any, credentials: Credentials) -> str | Tolerated | AttemptError:
    """Return the words of a response, or what is wrong with it."""
    if not isinstance(returned, Mapping):
        return malformed(f'`GetResponse` returned {_named(returned)}; expected {{"success": ..., "response": ...}}')
    lacking = [key for key in ("success", "response") if key not in returned]
    if lacking:
        keys = ", ".join(f"`{key}`" for key in lacking)
        there = ", ".join(sorted(map(str, returned))[:6]) or "nothing"
        return malformed(f"`GetResponse` returned no {keys}; there is {credentials.scrub(there)}")
    success = read_truth(returned["success"], "success` of `GetResponse", credentials)
    if isinstance(success, AttemptError):
        return success
    if success is False:
        words = credentials.scrub(str(returned["response"] or ""))
        return AttemptError(kind=ServerFault, words=f"it says that it failed: {words}".removesuffix(": "))
    text = _text_in(returned["response"])
    return Tolerated(text, success.remark) if isinstance(success, Tolerated) and isinstance(text, str) else text


def _text_in(response: Any) -> str | AttemptError:
    if response is None or (isinstance(response, str) and not response.strip()):
        return empty("`response` of `GetResponse` holds no text")
    return response if isinstance(response, str) else malformed(f"`response` is {_named(response)}; expected text")


def read_version(returned: Any) -> str | Tolerated:
    """Return the version that an application states."""
    if isinstance(returned, str) and returned.strip():
        return returned.strip()
    text = returned.text if isinstance(returned, ForeignObject) else str(returned)
    version = "" if returned is None else text.strip()
    return Tolerated(version, f"`GetVersion` returned {_named(returned)}; expected text")


def _named(value: Any) -> str:
    """Return what a value is, never what it holds: it may hold a key."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return "a text" if value else "an empty text"
    kind = type_of(value)
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"
