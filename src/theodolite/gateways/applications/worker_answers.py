"""What an application's process answers, decoded: returned values, exceptions and missing targets in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from theodolite.domain.fault import did_you_mean


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """A returned value that JSON cannot hold.

    Attributes:
        type_name: Its class.
        is_true: Its truth value.
        text: Its text, cut.
    """

    type_name: str
    is_true: bool
    text: str


def decode(encoded: Any) -> Any:
    """Return the value that the worker's `encode` was given, types included.

    Example:
        >>> decode({"tuple": [True, "welcome"]})
        (True, 'welcome')
    """
    if not isinstance(encoded, dict):
        return encoded
    match encoded:
        case {"int": str(digits)} | {"float": str(digits)}:
            return int(digits) if "int" in encoded else float(digits)
        case {"tuple": list(items)}:
            return tuple(decode(item) for item in items)
        case {"list": list(items)}:
            return [decode(item) for item in items]
        case {"mapping": list(items)}:
            return {key: decode(item) for key, item in items}
    return ForeignObject(str(encoded.get("object")), bool(encoded.get("truth")), str(encoded.get("text", "")))


_RAISED: dict[str, Any] = {
    "type": str,
    "text": str,
    "place": str,
    "refused": bool,
    "relative": bool,
    "missing": str | None,
}
_CONTENTS: dict[str, type] = {
    "loaded": dict,
    "unusable": dict,
    "raised": dict,
    "odd_piece": str,
    "blocked": bool,
    "identity": int,
    "returned": object,
}


def require_form(answer: Mapping[str, Any]) -> None:
    """Refuse an answer of another form than the worker sends: the code that runs there can write answers as well.

    Raises:
        ValueError: If it has no content, or content of another form.
        TypeError: Likewise.
        RecursionError: If it is nested too deeply.
    """
    contents = [name for name in _CONTENTS if name in answer]
    if not contents or not all(isinstance(answer[name], _CONTENTS[name]) for name in contents):
        message = "the answer of a process has no content, or one of another form"
        raise ValueError(message)
    raised = answer.get("raised")
    if raised is not None and not all(isinstance(raised.get(name), kind) for name, kind in _RAISED.items()):
        message = "what a process says that its code raised has another form"
        raise ValueError(message)
    decode(answer.get("returned"))


def type_of(value: object) -> str:
    """Return the name of a decoded value's class."""
    return value.type_name if isinstance(value, ForeignObject) else type(value).__name__


_VARIABLE = re.compile(r"[A-Za-z_]\w{2,}")


def raised_text(raised: Mapping[str, Any], *, folder: str = "", withheld: frozenset[str] = frozenset()) -> str:
    """Return what code raised and where, in words, with the way out where one is known.

    Args:
        raised: The worker's description of the exception.
        folder: The application's folder.
        withheld: Environment variables that exist and that the process does not see.
    """
    text = f"{raised['type']}: {raised['text']}".rstrip(": ")
    if raised["relative"]:
        text += f"; relative paths begin in the application's folder, `{folder}`"
    names = [name for name in _VARIABLE.findall(raised["text"]) if name in withheld]
    if names:
        text += (
            f"; the environment variable `{names[0]}` is set, but the code sees only those that its `env`"
            f" names: add `env: [{names[0]}]`"
        )
    return f"{text} ({raised['place']})" if raised["place"] else text


def unusable_text(unusable: Mapping[str, Any], target: str) -> str:
    """Return why a target can be neither called nor instantiated, in words."""
    match unusable["reason"]:
        case "no file":
            return f"there is no file `{unusable['file']}` in the study's folder"
        case "no name":
            hint = did_you_mean(unusable["part"], unusable["known"])
            return f"`{unusable['module']}` has no `{unusable['part']}`{hint}"
        case "no class":
            return f"`{target}` is a {unusable['type']}; expected a class"
        case _:
            return f"`{target}` is a {unusable['type']}; expected a function"
