"""What a class with ARIA's dialogue interface is given: prompts as one text, and arguments of its constructor."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from theodolite.domain.application import ARIA_SLOTS
from theodolite.domain.errors import InputError, TemplateError
from theodolite.gateways.secret_redaction import Credentials
from theodolite.gateways.templates import text_template

PromptForm: TypeAlias = Callable[[str, int, str], str]
"""From a prompt, the number of its turn and the source material to what `GetResponse` is given."""


def prompt_template(source: str, name: str) -> PromptForm:
    """Return how an application is told a prompt.

    The interface has no place for source material, so a study says where in the
    text it is to stand; without a template the prompt goes through as it is.

    Args:
        source: The template; empty for the prompt alone.
        name: Name of the application in the study.

    Raises:
        InputError: If it is no template, or names what nothing fills.
    """
    if not source:
        return lambda prompt, _turn, _context: prompt
    fill = text_template(source, what=f"`prompt` of application `{name}`", slots=ARIA_SLOTS)
    return lambda prompt, turn, context: fill({"prompt": prompt, "turn": turn, "context": context})


INIT_SLOTS = ("auth",)
"""What the templates of a constructor's arguments may name."""

_WHOLE = re.compile(r"\s*\{\{\s*auth((?:\.\w+)*)\s*\}\}\s*")


def init_arguments(source: str, credentials: Credentials, *, what: str) -> dict[str, Any]:
    """Return the arguments of a class's constructor, with credentials where the study has `{{ auth... }}`.

    A text that is such a slot and nothing else keeps the type of the credential.

    Args:
        source: JSON object of arguments, as the study gives them.
        credentials: Credentials of the application; while they are missing, slots stay empty.
        what: What messages call the arguments.

    Raises:
        InputError: If a slot names a credential that is not there.
    """
    auth = credentials.auth
    arguments: dict[str, Any] = json.loads(source)
    if auth is None and credentials.is_missing:
        return arguments  # nothing is called without them
    return {name: _filled(value, auth or {}, what) for name, value in arguments.items()}


def _filled(value: Any, auth: Mapping[str, Any], what: str) -> Any:
    if isinstance(value, dict):
        return {key: _filled(member, auth, what) for key, member in value.items()}
    if isinstance(value, list):
        return [_filled(item, auth, what) for item in value]
    if not isinstance(value, str) or "{" not in value:
        return value
    whole = _WHOLE.fullmatch(value)
    try:
        return (
            _credential(auth, whole[1], what)
            if whole
            else text_template(value, what=what, slots=INIT_SLOTS)({"auth": dict(auth)})
        )
    except TemplateError as error:
        raise InputError(str(error)) from None


def _credential(auth: Mapping[str, Any], path: str, what: str) -> Any:
    found: Any = dict(auth)
    for part in path.split(".")[1:]:
        if not isinstance(found, Mapping) or part not in found:
            there = ", ".join(f"`{name}`" for name in auth) or "none"
            message = f"{what} names the credential `auth{path}`, which is not set; the credentials are: {there}"
            if not auth:
                message += ". Put a JSON object into the environment variable `ARIA_AUTH_JSON`, or name another one:"
                message += " `auth: NAME`"
            raise InputError(message)
        found = found[part]
    return found
