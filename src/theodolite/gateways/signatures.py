"""Signatures: what somebody else's function wants to be given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any


def keywords_of(function: Callable[..., Any], offered: Sequence[str]) -> tuple[str, ...]:
    """Return which of the offered keywords a function takes, the first positional argument left out.

    A function that cannot be looked into is given none, and one that takes any
    keyword is given all.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return tuple(offered)
    by_name = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    first = 1 if parameters and parameters[0].kind is not inspect.Parameter.KEYWORD_ONLY else 0
    return tuple(p.name for p in parameters[first:] if p.name in offered and p.kind in by_name)
