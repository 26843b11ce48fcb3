"""JSON Schema: the keywords that describe the form of a reply, without references to other documents."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

ANNOTATIONS: Final = frozenset(
    {"$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated", "format"}
)
"""Keywords without influence on the validity of a value."""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
}


def schema_problem(schema: object, where: str = "$") -> str:
    """Return why a schema cannot be used; empty if it can.

    Args:
        schema: The schema, as JSON.
        where: Path of the schema, for the message.
    """
    if isinstance(schema, bool):
        return ""
    if not isinstance(schema, dict):
        return f"{where} is a {type(schema).__name__}; expected a schema, an object or true or false"
    for keyword, value in schema.items():
        if keyword in ANNOTATIONS:
            continue
        if keyword not in _RULES and keyword not in _PARTS:
            known = ", ".join([*_RULES, *_PARTS])
            return f"{where} has the keyword `{keyword}`, which is not supported; supported are {known}"
        if problem := _value_problem(keyword, value, f"{where}.{keyword}"):
            return problem
    return ""


def mismatch(value: object, schema: object, where: str = "$") -> str:
    """Return the first reason why a value does not fit a schema; empty if it fits.

    Args:
        value: The value, as JSON.
        schema: A schema without a `schema_problem`.
        where: Path of the value, for the reason.

    Source:
        JSON Schema 2020-12, Validation vocabulary, https://json-schema.org/draft/2020-12/json-schema-validation.
        Compared with an independent implementation in tests/unit/assessment/test_json_schema.py.
    """
    return next(_mismatches(value, schema, where), "")


def reply_mismatch(text: str, schema: object) -> str:
    """Return why a reply does not contain JSON that fits a schema; empty if it does.

    A reply may hold its JSON alone or in one fenced code block.
    """
    fenced = re.search(r"```(?:json)?\s*\n(.*?)```", text, re.DOTALL | re.IGNORECASE)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return "the response is not JSON"
    return mismatch(value, schema)


def _mismatches(value: object, schema: object, where: str) -> Iterator[str]:
    if isinstance(schema, bool):
        if not schema:
            yield f"{where} is not allowed"
        return
    if not isinstance(schema, dict):
        return
    for keyword, limit in schema.items():
        if keyword in _RULES and (reason := _RULES[keyword](value, limit)):
            yield f"{where} {reason}"
    yield from _in_members(value, schema, where)
    yield from _in_items(value, schema, where)
    yield from _in_combinations(value, schema, where)


def _in_members(value: object, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    properties = schema.get("properties", {})
    for name, member in value.items():
        if name in properties:
            yield from _mismatches(member, properties[name], f"{where}.{name}")
        elif "additionalProperties" in schema:
            yield from _mismatches(member, schema["additionalProperties"], f"{where}.{name}")


def _in_items(value: object, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _mismatches(item, schema["items"], f"{where}[{index}]")


def _in_combinations(value: object, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    for part in schema.get("allOf", ()):
        yield from _mismatches(value, part, where)
    if "anyOf" in schema and all(mismatch(value, part) for part in schema["anyOf"]):
        yield f"{where} fits no schema of `anyOf`"
    if "oneOf" in schema and (n := sum(not mismatch(value, part) for part in schema["oneOf"])) != 1:
        yield f"{where} fits {n} schemas of `oneOf`; expected one"
    if "not" in schema and not mismatch(value, schema["not"]):
        yield f"{where} fits the schema of `not`"


def _equal(first: object, second: object) -> bool:
    """Return whether two JSON values are equal; 1 equals 1.0 and differs from true."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_equal, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_equal(first[name], second[name]) for name in first)
    return bool(first == second)


def _type(value: object, names: str | Sequence[str]) -> str:
    allowed = [names] if isinstance(names, str) else list(names)
    return "" if any(_TYPES[name](value) for name in allowed) else f"is not of type {' or '.join(allowed)}"


def _required(value: object, names: Sequence[str]) -> str:
    missing = [name for name in names if name not in value] if isinstance(value, dict) else []
    return f"lacks `{missing[0]}`" if missing else ""


def _within(value: object, limit: float, fits: Callable[[Any, float], bool], words: str) -> str:
    return f"is {value}; {words} {limit}" if _is_number(value) and not fits(value, limit) else ""


def _long(value: object, limit: int, kind: type[str | list[Any]], *, is_least: bool) -> str:
    if not isinstance(value, kind):
        return ""
    length = len(value)
    if (length >= limit) if is_least else (length <= limit):
        return ""
    return f"has length {length}; expected at {'least' if is_least else 'most'} {limit}"


def _most(value: float, limit: float) -> bool:
    return value <= limit


def _least(value: float, limit: float) -> bool:
    return value >= limit


_RULES: Final[Mapping[str, Callable[[Any, Any], str]]] = {
    "type": _type,
    "enum": lambda value, allowed: "" if any(_equal(value, one) for one in allowed) else "is not in `enum`",
    "const": lambda value, only: "" if _equal(value, only) else "differs from `const`",
    "required": _required,
    "minimum": lambda value, limit: _within(value, limit, _least, "expected at least"),
    "maximum": lambda value, limit: _within(value, limit, _most, "expected at most"),
    "exclusiveMinimum": lambda value, limit: _within(value, limit, lambda a, b: a > b, "expected more than"),
    "exclusiveMaximum": lambda value, limit: _within(value, limit, lambda a, b: a < b, "expected less than"),
    "minLength": lambda value, limit: _long(value, limit, str, is_least=True),
    "maxLength": lambda value, limit: _long(value, limit, str, is_least=False),
    "minItems": lambda value, limit: _long(value, limit, list, is_least=True),
    "maxItems": lambda value, limit: _long(value, limit, list, is_least=False),
    "pattern": lambda value, pattern: (
        f"does not match `{pattern}`" if isinstance(value, str) and not re.search(pattern, value) else ""
    ),
}
"""Keyword to its rule: from a value and the keyword's own value to a reason, empty if the value fits."""

_PARTS: Final = ("properties", "additionalProperties", "items", "allOf", "anyOf", "oneOf", "not")
"""Keywords that hold schemas."""

_LIMITS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_COUNTS: Final = frozenset({"minLength", "maxLength", "minItems", "maxItems"})


def _value_problem(keyword: str, value: object, where: str) -> str:
    """Return the error in the value of a keyword; empty if there is none."""
    match keyword:
        case "properties":
            if not isinstance(value, dict):
                return f"{where} must be an object of schemas"
            return next(filter(None, (schema_problem(part, f"{where}.{name}") for name, part in value.items())), "")
        case "allOf" | "anyOf" | "oneOf":
            if not isinstance(value, list) or not value:
                return f"{where} must be a list of schemas"
            return next(filter(None, (schema_problem(part, f"{where}[{n}]") for n, part in enumerate(value))), "")
        case "additionalProperties" | "items" | "not":
            return schema_problem(value, where)
        case _:
            return _rule_problem(keyword, value, where)


def _rule_problem(keyword: str, value: object, where: str) -> str:
    if keyword == "type":
        names = value if isinstance(value, list) else [value]
        unknown = [name for name in names if not (isinstance(name, str) and name in _TYPES)]
        return f"{where} has `{unknown[0]}`; types are {', '.join(_TYPES)}" if unknown else ""
    if keyword in {"enum", "required"} and not isinstance(value, list):
        return f"{where} must be a list"
    if keyword in _LIMITS and not _is_number(value):
        return f"{where} must be a number"
    if keyword in _COUNTS and not (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return f"{where} must be a whole number"
    return _pattern_problem(value, where) if keyword == "pattern" else ""


def _pattern_problem(pattern: object, where: str) -> str:
    try:
        re.compile(pattern if isinstance(pattern, str) else "(")
    except re.error as error:
        return f"{where} is not a regular expression: {error.msg}"
    return ""
