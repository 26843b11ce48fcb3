"""The contract of ARIA's dialogue interface: what its methods may return, and what real classes returned."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from theodolite.domain.errors import InputError, ServerFault
from theodolite.gateways.secrecy import Credentials
from theodolite.gateways.trouble import Trouble, empty, malformed

NEEDED = ("OpenConnection", "CloseConnection", "StartSession", "GetResponse")
"""Methods without which there is no dialogue; `GetVersion` came later and went again."""


@dataclass(frozen=True, slots=True)
class Tolerated:
    """A value that breaks the contract in a way whose meaning is plain all the same.

    Attributes:
        value: What is meant.
        remark: What is wrong with how it was said.
    """

    value: Any
    remark: str


def check_class(kind: type, *, what: str) -> None:
    """Refuse a class that cannot hold a dialogue, and say everything that it lacks.

    Raises:
        InputError: If a needed method is missing or still abstract, or an instance cannot be made without arguments.
    """
    abstract: frozenset[str] = getattr(kind, "__abstractmethods__", frozenset())
    lacking = [name for name in NEEDED if name in abstract or not callable(getattr(kind, name, None))]
    lacking += sorted(abstract.difference(lacking))
    if lacking:
        names = ", ".join(f"`{name}`" for name in lacking)
        message = f"{what}: class `{kind.__name__}` does not define {names}, which ARIA's dialogue interface asks for"
        raise InputError(message)
    wanted = _wanted(kind)
    if wanted:
        names = ", ".join(f"`{name}`" for name in wanted)
        message = (
            f"{what}: class `{kind.__name__}` cannot be made without {names}; ARIA's dialogue interface makes instances"
            " without arguments and hands credentials to `OpenConnection`"
        )
        raise InputError(message)


def _wanted(kind: type) -> list[str]:
    """Return the arguments without which no instance can be made."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):  # it does not say what it takes
        return []
    loose = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return [one.name for one in parameters if one.default is inspect.Parameter.empty and one.kind not in loose]


def read_truth(returned: Any, method: str, credentials: Credentials) -> bool | Tolerated | Trouble:
    """Return what a method says about its success.

    A pair such as `(False, "no key")` is true to Python whatever it holds, so
    its first member is read; that is how real classes meant it.
    """
    if isinstance(returned, bool):
        return returned
    if isinstance(returned, tuple | list) and returned and isinstance(returned[0], bool):
        kind = type(returned).__name__
        remark = f"`{method}` returned a {kind} that begins with {returned[0]}; expected {returned[0]} alone"
        if returned[0]:
            return Tolerated(True, remark)
        words = credentials.scrub(" ".join(str(item) for item in returned[1:]))
        return Trouble(kind=ServerFault, words=f"`{method}` returned False: {words}".removesuffix(": "))
    return malformed(f"`{method}` returned {_named(returned)}; expected True or False")


def read_response(returned: Any, credentials: Credentials) -> str | Tolerated | Trouble:
    """Return the words of a response, or what is wrong with it."""
    if not isinstance(returned, Mapping):
        return malformed(f'`GetResponse` returned {_named(returned)}; expected {{"success": ..., "response": ...}}')
    lacking = [key for key in ("success", "response") if key not in returned]
    if lacking:
        keys = ", ".join(f"`{key}`" for key in lacking)
        there = ", ".join(sorted(map(str, returned))[:6]) or "nothing"
        return malformed(f"`GetResponse` returned no {keys}; there is {credentials.scrub(there)}")
    success = read_truth(returned["success"], "success` of `GetResponse", credentials)
    if isinstance(success, Trouble):
        return success
    if success is False:
        words = credentials.scrub(str(returned["response"] or ""))
        return Trouble(kind=ServerFault, words=f"it says that it failed: {words}".removesuffix(": "))
    text = _text_in(returned["response"])
    return Tolerated(text, success.remark) if isinstance(success, Tolerated) and isinstance(text, str) else text


def _text_in(response: Any) -> str | Trouble:
    if response is None or (isinstance(response, str) and not response.strip()):
        return empty("`response` of `GetResponse` holds no text")
    return response if isinstance(response, str) else malformed(f"`response` is {_named(response)}; expected text")


def read_version(returned: Any) -> str | Tolerated:
    """Return the version that an application states."""
    if isinstance(returned, str) and returned.strip():
        return returned.strip()
    version = "" if returned is None else str(returned).strip()
    return Tolerated(version, f"`GetVersion` returned {_named(returned)}; expected text")


def _named(value: Any) -> str:
    """Return what a value is, never what it holds: it may hold a key."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return "a text" if value else "an empty text"
    kind = type(value).__name__
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"
