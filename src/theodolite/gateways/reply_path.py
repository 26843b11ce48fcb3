"""Reply paths: where the reply stands in an application's answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from theodolite.domain.errors import InputError
from theodolite.gateways.trouble import Trouble, empty, malformed
from theodolite.gateways.wire import Answer

_STEP = re.compile(r"""\.([\w-]+)|\[(\d+)\]|\[(?:"([^"\]]+)"|'([^'\]]+)')\]""")

Path = tuple[str | int, ...]
"""Keys and positions from the root of a JSON document."""


def parse_path(path: str) -> Path | None:
    """Return the steps of a path such as `$.a.b[0]`, or None for `text`, the whole body.

    Raises:
        InputError: If it is neither.

    Example:
        >>> parse_path("$.choices[0].text")
        ('choices', 0, 'text')
    """
    if path == "text":
        return None
    steps = list(_STEP.finditer(path, 1))
    if not path.startswith("$") or "$" + "".join(step[0] for step in steps) != path:
        message = f"`reply` must be `text` or a path such as `$.a.b[0]`; got `{path}`"
        raise InputError(message)
    return tuple(int(step[2]) if step[2] else step[1] or step[3] or step[4] for step in steps)


def read_text(answer: Answer, path: Path | None) -> str | Trouble:
    """Return the reply that an answer holds, or what is wrong with it."""
    try:
        text = answer.body.decode(answer.charset or "utf-8")
        found = text if path is None else json.loads(text)
    except (ValueError, LookupError, RecursionError):
        return malformed("the answer is not JSON" if path is not None else "the answer is not text as encoded")
    return _checked(_walk(found, path or ()))


def _walk(found: Any, path: Path) -> Any:
    """Follow the path; a step that leads nowhere becomes a trouble."""
    for position, step in enumerate(path):
        try:
            found = _member(found, step)
        except LookupError:
            return malformed(f"the answer has no `{_written(path[: position + 1])}`{_alternatives(found)}")
    return found


def _member(found: Any, step: str | int) -> Any:
    if isinstance(step, str) and isinstance(found, Mapping):
        return found[step]
    if isinstance(step, int) and isinstance(found, list):
        return found[step]
    raise LookupError(step)


def _written(path: Path) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def _alternatives(found: Any) -> str:
    if not isinstance(found, Mapping):
        return ""
    return f"; there are {', '.join(sorted(map(str, found))[:6])}" if found else "; the object there is empty"


def _checked(found: Any) -> str | Trouble:
    if isinstance(found, Trouble):
        return found
    if found is None or (isinstance(found, str) and not found.strip()):
        return empty()
    if isinstance(found, str):
        return found
    return malformed(f"the reply is a JSON {type(found).__name__}; expected text")
